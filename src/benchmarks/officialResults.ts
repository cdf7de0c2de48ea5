import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { unimportable } from './importReport.ts';
import type { OfficialSimulation } from './officialSimulation.ts';
import { tau1RunsIn } from './tau1Results.ts';
import { tau1Simulations } from './tau1Seats.ts';
import { tau2ResultsIn, tau2SimulationIn } from './tau2Results.ts';
import { tau2Simulations } from './tau2Seats.ts';
import { jsonIn } from './userCopy.ts';

/** The finished simulations of a results file, and what it is of: the domain where the file names it. */
export type OfficialResults = {
  readonly benchmark: 'tau1' | 'tau2';
  readonly simulations: readonly OfficialSimulation[];
  readonly domain: string | null;
};

/**
 * Reads the results file of another tool: a list is tau-bench's, an object tau2's. A folder of tau2 contains
 * `results.json`, and may contain a file for each simulation. Throws a `Fault` that says what is wrong with it.
 */
export function readOfficialResults(path: string): OfficialResults {
  const results = resultsAt(path);
  if (results.simulations.length > 0) return results;
  throw unimportable('empty', `${path} holds no simulation; expected the results of a run that was finished`);
}

function resultsAt(path: string): OfficialResults {
  const isFolder = existsSync(path) && statSync(path).isDirectory();
  const file = isFolder ? join(path, 'results.json') : path;
  if (!existsSync(file)) throw unimportable('missing', `there is no ${file}`);
  const read = jsonIn(file);
  if (Array.isArray(read))
    return { benchmark: 'tau1', simulations: tau1Simulations(tau1RunsIn(read, file)), domain: null };
  const { domain, simulations, ...more } = tau2ResultsIn(read, file);
  const beside = isFolder ? jsonFilesIn(join(path, 'simulations')) : [];
  const others = beside.map((each) => tau2SimulationIn(jsonIn(each), each));
  // telecom-workflow is telecom with another policy: its tasks and its reward are the same.
  const plain = domain.replace(/-workflow$/, '');
  return { benchmark: 'tau2', simulations: tau2Simulations([...simulations, ...others], more), domain: plain };
}

function jsonFilesIn(folder: string): readonly string[] {
  const names = existsSync(folder) ? readdirSync(folder) : [];
  return names.filter((name) => name.endsWith('.json')).map((name) => join(folder, name));
}
