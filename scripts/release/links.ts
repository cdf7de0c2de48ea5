import type { Release } from './release.ts';

/** Returns the links of a manifest to the repository. */
export function linksOf({ repository }: Pick<Release, 'repository'>): Readonly<Record<string, unknown>> {
  if (repository === undefined) return {};
  return {
    homepage: `${repository}#readme`,
    bugs: { url: `${repository}/issues` },
    repository: { type: 'git', url: `git+${repository}.git` },
  };
}

/** Returns the pyproject.toml of the trainer with the links that PyPI shows. */
export function withProjectUrls(project: string, { repository, version }: Pick<Release, 'repository' | 'version'>) {
  if (repository === undefined) return project;
  const urls = {
    Homepage: repository,
    Documentation: `${repository}/blob/v${version}/docs/overview.md`,
    Issues: `${repository}/issues`,
    Changelog: `${repository}/blob/v${version}/CHANGELOG.md`,
  };
  const lines = Object.entries(urls).map(([name, url]) => `${name} = "${url}"\n`);
  return `${project}\n[project.urls]\n${lines.join('')}`;
}

/** Returns a page without pictures and with the places of other pages in words, because its relative links lead nowhere. */
export function withoutRelativeLinks(page: string): string {
  return page.replaceAll(
    /(!?)\[([^\]]*)\]\((?!https:|#)([^)\s]+)\)/g,
    (_, picture: string, text: string, path: string) => {
      if (picture !== '') return `_${text}_`;
      const [, name] = /^(docs\/[\w/-]+)\.md(?:#.*)?$/.exec(path) ?? [];
      return name === undefined ? `${text} (\`${path}\`)` : `${text} (\`npx rehearsal help ${name}\`)`;
    },
  );
}
