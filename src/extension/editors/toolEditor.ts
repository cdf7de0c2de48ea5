import { describeSimulated, type SimulatedTool, simulatedToolSchema } from '../../engine/core/simulatedTool.ts';
import { hasSources } from '../../engine/shell/load/loadedDomain.ts';
import { itemsOf } from './documentItems.ts';
import { chosenOf, type FileScene, type Scene, type VisualEditor } from './editorSession.ts';
import { callOf, misfitsOf, toolContent } from './toolContent.ts';
import { type KnownTool, toolsOf } from './toolDescriptions.ts';

const kind = { kind: 'tool', schema: 'tool', item: simulatedToolSchema } as const;

/** The visual editor of simulated tools, which are files. */
export const toolEditor: VisualEditor = {
  view: 'toolEditor',
  title: 'Tool',
  contentOf: async (scene) => {
    const { broken, items } = itemsOf<SimulatedTool>(scene.document, kind, 'name', scene.choices.index);
    const { index, item } = chosenOf(items, scene.choices);
    const labels = items.map(({ label, problem }) => ({ label, problem }));
    const value = item?.value;
    if (!item || !value) return { broken, items: labels, index, content: null };
    const { domain } = scene;
    const scenery = { tool: toolIn(value), domain, base: item.path, simulated: value, undescribed: null };
    return { broken, items: labels, index, content: toolContent(scenery) };
  },
  answer: (message, scene) => {
    const tool = shownTool(scene);
    if (message.type !== 'checkCall' || !tool) return undefined;
    return { type: 'callChecked', question: message.question, misfits: misfitsOf(tool, message.arguments) };
  },
  run: (message, scene) => {
    const tool = shownTool(scene);
    return message.type === 'call' && tool ? callOf(tool, message) : undefined;
  },
};

function toolIn(value: SimulatedTool): KnownTool {
  const { source, ...tool } = describeSimulated(value);
  return { ...tool, source: source.type };
}

function shownTool({ document, choices }: FileScene): KnownTool | undefined {
  const value = chosenOf(itemsOf<SimulatedTool>(document, kind, 'name', choices.index).items, choices).item?.value;
  return value ? toolIn(value) : undefined;
}

/** What the panel of a tool of code shows: it is read here and changed in its code. */
export function toolPanelOf(name: string): VisualEditor<Scene> {
  const found = (scene: Scene) => {
    const known =
      scene.domain &&
      toolsOf(scene.context, scene.domain, scene.refresh, { asksServers: hasSources(scene.domain.file) });
    return { known, tool: known?.tools.find((tool) => tool.name === name) };
  };
  return {
    view: 'toolEditor',
    title: name,
    contentOf: async (scene) => {
      const { known, tool } = found(scene);
      if (!tool) {
        const message = known?.problem ?? `There is no tool ${name} in this domain any more.`;
        return { broken: { message, line: 0 }, items: [], index: 0, content: null };
      }
      const scenery = { tool, domain: scene.domain, base: null, simulated: null, undescribed: known?.problem ?? null };
      return { broken: null, items: [{ label: name, problem: null }], index: 0, content: toolContent(scenery) };
    },
    answer: (message, scene) => {
      const { tool } = found(scene);
      if (message.type !== 'checkCall' || !tool) return undefined;
      return { type: 'callChecked', question: message.question, misfits: misfitsOf(tool, message.arguments) };
    },
    run: (message, scene) => {
      const { tool } = found(scene);
      return message.type === 'call' && tool ? callOf(tool, message) : undefined;
    },
  };
}
