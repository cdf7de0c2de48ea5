import { answer } from './answer.ts';

console.log(answer);
