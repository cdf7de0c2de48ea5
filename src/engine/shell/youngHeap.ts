/**
 * V8's flag for a process that folds rollouts. What a rollout leaves is garbage soon: more room for the young costs memory
 * (a third of the supervisor's, in a batch) and saves no time.
 */
export const smallYoungHeap = '--max-semi-space-size=4';
