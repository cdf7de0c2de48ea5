/** The id of the task of a sample domain that fails in a well-known way, by the name of the sample. */
export const failingTasks: Readonly<Record<string, string>> = { 'order-desk': 'lamp-variant' };

/** Returns the file of a task of a sample, which has its own or is in one named after a split, from the domain's folder. */
export const taskFile = (name: string): string => `tasks/${name}.task.yaml`;
