import { expect, test } from 'vitest';
import { readConfiguration } from '../../../src/cli/dap/rollout/configuration.ts';
import { readPickedSettings } from '../../../src/extension/debug/pickedSettings.ts';

test.each([
  ['', {}],
  ['  ', {}],
  [
    '{"temperature": 0.2, "maxTokens": 512, "reasoningEffort": "low", "extraBody": {"top_k": 20}}',
    { temperature: 0.2, maxTokens: 512, reasoningEffort: 'low', extraBody: { top_k: 20 } },
  ],
])('%j is read as the debug configuration reads it', (typed, settings) => {
  expect(readPickedSettings(typed)).toEqual(settings);
  expect(readConfiguration({ models: { agent: settings } }).models?.agent).toEqual(settings);
});

test.each(['{', '7', '{"temperature": 3}', '{"tokens": 5}', '{"headers": {"X-Team": "red"}}'])(
  '%j is not settings of a picked model',
  (typed) => {
    expect(readPickedSettings(typed)).toMatch(/The settings are JSON with temperature, maxTokens/);
  },
);
