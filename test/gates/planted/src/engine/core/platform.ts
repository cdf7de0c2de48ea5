export const timer = setTimeout(() => 0, 1); // expects: TS2304
console.log(timer); // expects: TS2584
export const answer = fetch('http://localhost'); // expects: TS2304
export const home = process.env; // expects: TS2591
