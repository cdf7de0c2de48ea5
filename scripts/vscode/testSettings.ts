/** User settings of VS Code in tests, so that nothing covers what a test clicks. A test of a hover turns hovers on. */
export const testSettings: Readonly<Record<string, unknown>> = {
  'editor.hover.enabled': 'off',
  // The hovers of the workbench cannot be turned off. This delay is 23 days.
  'workbench.hover.delay': 2_000_000_000,
  'workbench.hover.reducedDelay': 2_000_000_000,
  'workbench.reduceMotion': 'on',
  'workbench.tree.enableStickyScroll': false,
  'editor.cursorBlinking': 'solid',
};
