import { type ComponentType, render } from 'preact';
import { ComparisonView } from './comparison/view.tsx';
import { DashboardView } from './dashboard/view.tsx';
import { PersonaEditor } from './editors/persona/view.tsx';
import { PolicyEditor } from './editors/policy/view.tsx';
import { TaskEditor } from './editors/task/view.tsx';
import { ToolEditor } from './editors/tool/view.tsx';
import type { ViewId } from './messages/protocol.ts';
import { type Bridge, connectBridge } from './parts/bridge.ts';
import { registerControls } from './parts/controls.ts';
import { TrainingTextView } from './trainingText/view.tsx';
import { TrajectoryView } from './trajectory/view.tsx';
import './page.css';

const views: Readonly<Record<ViewId, ComponentType<{ bridge: Bridge }>>> = {
  trainingDashboard: DashboardView,
  trajectory: TrajectoryView,
  comparison: ComparisonView,
  personaEditor: PersonaEditor,
  policyEditor: PolicyEditor,
  toolEditor: ToolEditor,
  taskEditor: TaskEditor,
  trainingText: TrainingTextView,
};

const root = document.getElementById('view');
const View = views[root?.dataset.view as ViewId];
if (!root || !View) throw new Error(`The page names no view of this bundle: "${root?.dataset.view}".`);
registerControls();
render(<View bridge={connectBridge()} />, root);
