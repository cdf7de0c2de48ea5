import * as vscode from 'vscode';
import { type Coverage, joinedCoverage } from '../../engine/core/evaluation/coverage.ts';
import type { LoadedDomain } from '../../engine/shell/load/loadedDomain.ts';
import { type CoveredPlace, coveredPlaces } from './coveredPlaces.ts';

/** The coverage of one domain by the tests of a run. */
export type DomainCoverage = {
  readonly domain: Pick<LoadedDomain, 'locations' | 'domain'>;
  readonly byTask: ReadonlyMap<vscode.TestItem, Coverage>;
};

const sources = new WeakMap<vscode.FileCoverage, DomainCoverage>();

/** Adds to a run what its tests exercised of the policy and of the files with tools. */
export function addCoverage(run: vscode.TestRun, of: DomainCoverage): void {
  const { locations, domain } = of.domain;
  const all = joinedCoverage([...of.byTask.values()]);
  for (const [file, places] of coveredPlaces(locations, domain.rules, all)) {
    const count = new vscode.TestCoverageCount(places.filter(({ executed }) => executed > 0).length, places.length);
    const tests = [...of.byTask.keys()];
    const coverage = new vscode.FileCoverage(vscode.Uri.file(file), count, undefined, count, tests);
    sources.set(coverage, of);
    run.addCoverage(coverage);
  }
}

/** The rules or tools of a file, of all tests or of one. */
export function coverageDetails(file: vscode.FileCoverage, test?: vscode.TestItem): vscode.FileCoverageDetail[] {
  const of = sources.get(file);
  if (!of) return [];
  const parts = test ? [of.byTask.get(test) ?? of.byTask.get(test.parent as vscode.TestItem)] : [...of.byTask.values()];
  const coverage = joinedCoverage(parts.filter((each) => each !== undefined));
  const { locations, domain } = of.domain;
  return (coveredPlaces(locations, domain.rules, coverage).get(file.uri.fsPath) ?? []).flatMap(detailsOf);
}

/** A declaration, which has a name, and a statement, which colours the gutter. */
function detailsOf({ name, executed, at }: CoveredPlace): vscode.FileCoverageDetail[] {
  const range = new vscode.Range(at.line - 1, at.column - 1, at.endLine - 1, at.endColumn - 1);
  return [new vscode.DeclarationCoverage(name, executed, range), new vscode.StatementCoverage(executed, range)];
}
