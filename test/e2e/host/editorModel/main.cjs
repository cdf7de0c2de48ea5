/** A predictable language model of VS Code: it makes one call, and then answers with its result. */
const vscode = require('vscode');

const model = {
  id: 'parrot',
  name: 'Parrot',
  family: 'parrot',
  version: '1',
  maxInputTokens: 100_000,
  maxOutputTokens: 10_000,
  capabilities: { toolCalling: true },
};

function answer(messages, { tools = [] }, progress) {
  const last = messages.at(-1);
  const result = last?.content.find((part) => part instanceof vscode.LanguageModelToolResultPart);
  const text = last?.content.map((part) => part.value ?? '').join('') ?? '';
  if (text.includes('be quiet')) throw vscode.LanguageModelError.Blocked('the message asks for silence');
  if (result) progress.report(new vscode.LanguageModelTextPart(`It returned ${result.content[0]?.value}`));
  else if (tools[0]) progress.report(new vscode.LanguageModelToolCallPart('call-1', tools[0].name, { said: text }));
  else progress.report(new vscode.LanguageModelTextPart(text));
}

exports.activate = ({ subscriptions }) => {
  subscriptions.push(
    vscode.lm.registerLanguageModelChatProvider('rehearsal-tests', {
      provideLanguageModelChatInformation: async () => [model],
      provideLanguageModelChatResponse: async (_, messages, options, progress) => answer(messages, options, progress),
      provideTokenCount: async (_, text) => String(text).length,
    }),
  );
};
