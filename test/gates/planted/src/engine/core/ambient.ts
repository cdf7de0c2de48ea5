export const dice = Math.random(); // expects: plugin
export const rolled = { roll: Math.random }; // expects: plugin
export const { random } = Math; // expects: plugin
export const now = Date.now(); // expects: plugin
export const today = new Date(); // expects: plugin
export const elapsed = performance.now(); // expects: plugin
export const id = crypto.randomUUID(); // expects: plugin
