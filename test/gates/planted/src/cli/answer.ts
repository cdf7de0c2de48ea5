export const answer = 42;
export const question = 'What do you get?';
