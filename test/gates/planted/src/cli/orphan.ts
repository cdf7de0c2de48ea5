export const orphan = 'no file imports this one';
