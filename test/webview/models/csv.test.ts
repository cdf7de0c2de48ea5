import { expect, test } from 'vitest';
import { csvOf } from '../../../src/webview/models/csv.ts';
import { point } from '../points.ts';

test('every run has its lines, every metric its column, and a name with a comma is quoted', () => {
  const runs = [
    { run: 'a', series: [point(1, { reward: 0.5 }), { ...point(2, { loss: 1e-7 }), superseded: true }] },
    { run: 'b, again', series: [{ step: 1, time: null, metrics: { reward: 1 } }] },
  ];
  expect(csvOf(runs)).toBe(
    [
      'run,step,time,superseded,loss,reward',
      'a,1,1970-01-01T00:01:00.000Z,false,,0.5',
      'a,2,1970-01-01T00:02:00.000Z,true,1e-7,',
      '"b, again",1,,false,,1',
      '',
    ].join('\r\n'),
  );
});

test('a text that a spreadsheet would run as a formula stays a text, and a negative number stays a number', () => {
  const names = ['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', '\r=1', '=HYPERLINK("http://a","b")'];
  const runs = names.map((run) => ({ run, series: [point(1, { '=cmd': -0.5 })] }));
  const [header, ...lines] = csvOf(runs).split('\r\n');
  expect(header).toBe("run,step,time,superseded,'=cmd");
  expect(lines.map((line) => line.slice(0, line.indexOf(',1,1970')))).toEqual([
    "'=1+1",
    "'+1",
    "'-1",
    "'@SUM(A1)",
    "'\t=1",
    '"\'\r=1"',
    '"\'=HYPERLINK(""http://a"",""b"")"',
    '',
  ]);
  expect(lines.slice(0, -1).every((line) => line.endsWith(',false,-0.5'))).toBe(true);
});

test('what only some spreadsheets run or split stays one text, too', () => {
  const names = ['\n=1', '＝1+1', '＋1', '－1', '＠SUM(A1)', 'a;=1+1', ';=1'];
  const lines = names.map((run) => csvOf([{ run, series: [point(1, { a: 1 })] }]).split('\r\n')[1]);
  expect(lines.map((line = '') => line.slice(0, line.indexOf(',1,1970')))).toEqual([
    '"\'\n=1"',
    "'＝1+1",
    "'＋1",
    "'－1",
    "'＠SUM(A1)",
    '"a;=1+1"',
    '";=1"',
  ]);
});
