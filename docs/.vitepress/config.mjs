// The documentation site. `npm run docs` builds it; the pages are the Markdown files of docs/.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, posix, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const docs = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const { version } = JSON.parse(readFileSync(join(docs, '..', 'package.json'), 'utf8'));

/** Pages of the sidebar: the title is the first heading of the page. */
const pages = (...names) =>
  names.map((name) => ({
    text: /^# (.+)$/m.exec(readFileSync(join(docs, `${name}.md`), 'utf8'))?.[1].replaceAll('`', '') ?? name,
    link: `/${name}`,
  }));

/** Sites of earlier versions are next to this one: `npm run docs -- --versions` builds them. */
const tags = (process.env.REHEARSAL_DOCS_VERSIONS ?? '').split(' ').filter((tag) => tag !== '');
const versions = [
  { text: `${version} (this version)`, link: '/overview' },
  ...tags.map((tag) => ({ text: tag.replace(/^v/, ''), link: `/${tag}/overview.html`, target: '_self' })),
];

const decisions = join(docs, 'decisions');
const decisionPages = existsSync(decisions)
  ? readdirSync(decisions).map((file) => `decisions/${file.replace(/\.md$/, '')}`)
  : ['spike'];

export default {
  title: 'Rehearsal',
  description: 'Author, debug, evaluate and train tool-using agents inside VS Code.',
  cleanUrls: true,
  cacheDir: join(docs, '..', 'dist', 'docs-cache'),
  vite: { publicDir: join(docs, 'pictures') },
  head: [
    ['style', {}, 'html:not(.dark) .dark-only, html.dark .light-only { display: none } .whole { white-space: nowrap }'],
  ],
  // The walkthrough of the editor and examples that other pages quote are not pages of the site.
  srcExclude: ['walkthrough/**', 'examples/**'],
  themeConfig: {
    search: { provider: 'local' },
    outline: [2, 3],
    nav: [
      {
        text: 'Tutorials',
        link: '/first-domain',
        activeMatch: '^/(first-domain|tutorial|training-first|training-story)',
      },
      { text: 'Guides', link: '/authoring' },
      { text: 'Reference', link: '/reference/command-line', activeMatch: '^/reference/' },
      { text: `Version ${version}`, items: versions },
    ],
    sidebar: [
      { text: 'Start', items: pages('overview') },
      { text: 'Tutorials', items: pages('first-domain', 'tutorial', 'training-first', 'training-story') },
      {
        text: 'Guides',
        items: pages(
          'authoring',
          'tools',
          'mcp-cookbook',
          'agent',
          'model-endpoints',
          'live-paths',
          'simulated-user',
          'debugger',
          'editors',
          'testing',
          'evaluation',
          'continuous-integration',
          'benchmarks',
          'cold-start',
          'training-targets',
          'training-gpu',
          'training-ray',
          'experiments',
        ),
      },
      {
        text: 'Reference',
        items: pages(
          'domain-format',
          'rule-language',
          'diagnostics',
          'reference/command-line',
          'reference/commands',
          'reference/files',
          'reference/launch',
          'reference/settings',
          'reference/recording',
          'reference/metrics',
          'reference/training',
          'reference/alarms',
          'training-protocol',
          'glossary',
        ),
      },
      {
        text: 'Explanation',
        items: pages(
          'architecture',
          'security',
          'security-attacks',
          'security-tampering',
          'faults',
          'injected-faults',
          'training-mua-rl',
          'performance',
          'training-results',
        ),
      },
      { text: 'Decisions', collapsed: true, items: pages(...decisionPages) },
      { text: 'Contributing', items: pages('contributing/tests', 'contributing/voice') },
    ],
  },
  markdown: {
    config: (markdown) => {
      // A picture NAME.png with NAME-light.png next to it is shown in the look of the site.
      const { image, code_inline: code } = markdown.renderer.rules;
      markdown.renderer.rules.image = (tokens, at, options, env, self) => {
        const [token, src] = [tokens[at], tokens[at].attrGet('src')];
        const light = src.replace(/\.png$/, '-light.png');
        if (light === src || !existsSync(join(docs, dirname(env.relativePath), light)))
          return image(tokens, at, options, env, self);
        return [
          ['dark-only', src],
          ['light-only', light],
        ]
          .map(([name, shown]) => {
            token.attrSet('class', name);
            token.attrSet('src', shown);
            return image(tokens, at, options, env, self);
          })
          .join('');
      };
      // A browser breaks a line after a hyphen, so a flag such as --task-agents would be in two pieces.
      markdown.renderer.rules.code_inline = (...given) =>
        code(...given).replace(/(?<=>.*)[^\s<>]*-[^\s<>]*(?=.*<)/g, (word) =>
          word.length <= 40 ? `<span class="whole">${word}</span>` : word,
        );
      // A link to a file outside of docs/, such as a test, is shown as text: the site has only the pages.
      markdown.core.ruler.push('outside', ({ tokens, env }) => {
        for (const { children } of tokens) {
          let isOutside = false;
          for (const token of children ?? []) {
            if (token.type === 'link_open') {
              const target = posix.join(posix.dirname(env.relativePath), token.attrGet('href').split('#')[0]);
              isOutside = target.startsWith('../') || target.startsWith('examples/');
            }
            if (isOutside && token.type === 'link_open') {
              token.tag = 'span';
              token.attrs = [];
            } else if (isOutside && token.type === 'link_close') {
              token.tag = 'span';
              isOutside = false;
            }
          }
        }
      });
    },
  },
};
