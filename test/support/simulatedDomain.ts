import { folderOf } from '../engine/shell/load/domainFolder.ts';
import { approveDomain } from './approval.ts';

/**
 * Writes a domain whose only tool, `weather`, is simulated, with a task `a` whose script calls it. Returns its approved
 * folder.
 * @param url the address of the model that answers for the tool
 */
export function simulatedDomain(url: string): string {
  return approveDomain(
    folderOf({
      'domain.yaml': `name: sky\nsimulator: openai:m@${url}\n`,
      'policy.md': '# Sky\n',
      'personas/a.persona.yaml': 'id: a\ndescription: Someone.\n',
      'tools/weather.tool.yaml':
        'name: weather\ndescription: The weather.\nbehaviour: Answer sunny.\nparameters: { type: object, properties: {} }\n',
      'tasks/a.task.yaml':
        'id: a\npersona: a\nuser: { goal: You ask for the weather. }\nscript: [[{ tool: weather }], Sunny.]\n',
    }),
  );
}
