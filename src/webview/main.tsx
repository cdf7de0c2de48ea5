import { type ComponentType, render } from 'preact';
import { type Bridge, connectBridge } from './bridge.ts';
import { registerControls } from './controls.ts';
import { DashboardView } from './dashboard/view.tsx';
import type { ViewId } from './protocol.ts';
import { TrajectoryView } from './trajectory/view.tsx';
import './page.css';

const views: Readonly<Record<ViewId, ComponentType<{ bridge: Bridge }>>> = {
  trainingDashboard: DashboardView,
  trajectory: TrajectoryView,
};

const root = document.getElementById('view');
const View = views[root?.dataset.view as ViewId];
if (!root || !View) throw new Error(`The page names no view of this bundle: "${root?.dataset.view}".`);
registerControls();
render(<View bridge={connectBridge()} />, root);
