import { describeSimulated, type SimulatedTool, simulatedToolSchema } from '../../engine/core/domain/simulatedTool.ts';
import { hasSources } from '../../engine/shell/load/loadedDomain.ts';
import { chosenIn } from './documentItems.ts';
import type { FileScene, Scene, VisualEditor } from './editorSession.ts';
import { callOf, misfitsOf, toolContent } from './toolContent.ts';
import { type KnownTool, toolsOf } from './toolDescriptions.ts';

const kind = { kind: 'tool', schema: 'tool', item: simulatedToolSchema } as const;

/** The visual editor of simulated tools, which are files. */
export const toolEditor: VisualEditor = {
  view: 'toolEditor',
  title: 'Tool',
  contentOf: async (scene) => {
    const { item, ...list } = chosenIn<SimulatedTool>(scene, kind, 'name');
    if (!item) return { ...list, content: null };
    const { path: base, value: simulated } = item;
    const scenery = { tool: describeSimulated(simulated), domain: scene.domain, base, simulated, undescribed: null };
    return { ...list, content: toolContent(scenery) };
  },
  ...callHandlers((scene: FileScene) => {
    const value = chosenIn<SimulatedTool>(scene, kind, 'name').item?.value;
    return value && describeSimulated(value);
  }),
};

/** Returns what the panel of a tool of code shows: it is read here and changed in its code. */
export function toolPanelOf(name: string): VisualEditor<Scene> {
  const found = ({ context, domain, refresh }: Scene) => {
    const known = domain && toolsOf(context, domain, refresh, { asksServers: hasSources(domain.file) });
    return { known, tool: known?.tools.find((tool) => tool.name === name) };
  };
  return {
    view: 'toolEditor',
    title: name,
    contentOf: async (scene) => {
      const { known, tool } = found(scene);
      if (!tool) {
        const message = known?.problem ?? `This domain no longer has a tool ${name}.`;
        return { broken: { message, line: 0 }, items: [], index: 0, errors: [], content: null };
      }
      const scenery = { tool, domain: scene.domain, base: null, simulated: null, undescribed: known?.problem ?? null };
      return {
        broken: null,
        items: [{ label: name, problem: null }],
        index: 0,
        errors: [],
        content: toolContent(scenery),
      };
    },
    ...callHandlers((scene: Scene) => found(scene).tool),
  };
}

/** Checks the arguments of a call while they are written, and makes the call. */
function callHandlers<Seen extends Scene>(
  toolOf: (scene: Seen) => KnownTool | undefined,
): Required<Pick<VisualEditor<Seen>, 'answer' | 'run'>> {
  return {
    answer: (message, scene) => {
      if (message.type !== 'checkCall') return undefined;
      const tool = toolOf(scene);
      return tool && { type: 'callChecked', question: message.question, misfits: misfitsOf(tool, message.arguments) };
    },
    run: (message, scene) => {
      if (message.type !== 'call') return undefined;
      const tool = toolOf(scene);
      return tool && callOf(tool, message);
    },
  };
}
