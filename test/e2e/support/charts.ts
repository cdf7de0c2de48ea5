/** Describes the charts of a page as a screen reader reads them. */
export type ChartAudit = {
  /** The names of the charts, each with its value if it has points to move between. */
  readonly charts: readonly { readonly name: string; readonly value: string | null }[];
  /** Charts without a name, and those with points that lack their value or their position. */
  readonly problems: readonly string[];
};

/** Runs in a page: lists every drawing that is not hidden from screen readers, and what they lack. */
export function auditCharts(): ChartAudit {
  const of = '[role="img"], [role="slider"]';
  const drawings = [...document.querySelectorAll('canvas, svg')].filter((each) => {
    // A sample of a colour in a legend, and a picture on a button, are explained by the text beside them.
    return each.closest(of) !== null || each.closest('[aria-hidden="true"]') === null;
  });
  const hosts = new Set([...drawings.map((each) => each.closest(of) ?? each), ...document.querySelectorAll(of)]);
  const charts = [...hosts].map((host) => {
    const get = (name: string) => host.getAttribute(`aria-${name}`);
    const [now, least, most] = ['valuenow', 'valuemin', 'valuemax'].map((name) => Number(get(name) ?? Number.NaN));
    const isSlider = host.getAttribute('role') === 'slider';
    const isPlaced = Number(least) <= Number(now) && Number(now) <= Number(most);
    const name = (get('label') ?? '').trim();
    const value = isSlider ? (get('valuetext') ?? '').trim() : null;
    const lacks = [name === '' && 'name', value === '' && 'value', isSlider && !isPlaced && 'position'].filter(Boolean);
    return {
      name,
      value,
      problem: lacks.length > 0 ? `${host.outerHTML.slice(0, 200)} lacks ${lacks.join(', ')}` : '',
    };
  });
  return {
    charts: charts.map(({ name, value }) => ({ name, value })),
    problems: charts.flatMap(({ problem }) => problem || []),
  };
}
