export const orphan = 'nobody imports this file';
