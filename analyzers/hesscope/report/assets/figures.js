'use strict';
// Draws figure descriptions (lib/hesscope/plot/figure_json.h) with plotly.js: what a description
// says becomes traces and a layout; nothing is decided here that it says.
const figures = (() => {
  // --- Numbers and text ---------------------------------------------------------------------------
  let pool = new Float64Array(0);
  const numbersOf = ({ at: first, count }) => pool.subarray(first, first + count);

  // Takes the numbers of all figures: the first bytes of all of them, then the second ones, ...
  const takeNumbers = (bytes) => {
    const count = bytes.length / 8;
    const sorted = new Uint8Array(bytes.length);
    for (let k = 0; k < 8; ++k) {
      for (let i = 0; i < count; ++i) sorted[8 * i + k] = bytes[k * count + i];
    }
    pool = new Float64Array(sorted.buffer);
  };

  const escaped = (text) =>
    text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;');

  // Plotly reads a little HTML in its texts: theirs is what ^{...} and _{...} become, nothing else.
  const markup = (text = '') =>
    escaped(text)
      .replace(/\^\{-(\d)/g, '^{\u2212$1')
      .replace(/\^\{([^}]*)\}/g, '<sup>$1</sup>')
      .replace(/_\{([^}]*)\}/g, '<sub>$1</sub>');

  // A long label of an axis in two lines, broken at a space near the middle.
  const inLines = (text = '') => {
    const kLongest = 34;
    if (text.length <= kLongest) return markup(text);
    const spaces = [...text.matchAll(/ /g)].map(({ index }) => index);
    const [middle] = spaces.sort((a, b) => Math.abs(a - text.length / 2) - Math.abs(b - text.length / 2));
    if (middle === undefined) return markup(text);
    return `${markup(text.slice(0, middle))}<br>${markup(text.slice(middle + 1))}`;
  };

  const plain = (text = '') => text.replace(/[\^_]\{([^}]*)\}/g, '$1');

  const shown = (value) =>
    Number.isFinite(value)
      ? String(Number(value.toPrecision(7))).replace('e+', 'e')
      : 'missing';

  // --- Scales -------------------------------------------------------------------------------------
  // Plotly has linear and logarithmic axes; on a signed logarithmic one numbers are put at their
  // places, and ticks and hover texts say the numbers.
  const placesOf = ({ scale, threshold }) => {
    if (scale === 'signed-log') return (v) => Math.asinh(v / (2 * threshold)) / Math.LN10;
    if (scale === 'log') return (v) => (v > 0 ? Math.log10(v) : NaN);
    return (v) => v;
  };
  const axisPlaces = (axis) => (axis.scale === 'signed-log' ? placesOf(axis) : (v) => v);
  const at = (place, values) => Float64Array.from(values, place);

  const axisOf = (axis, look, isSquare) => {
    const place = axis.scale === 'log' ? placesOf(axis) : axisPlaces(axis);
    const range = [place(axis.lower), place(axis.upper)];
    const made = {
      title: { text: inLines(axis.label), standoff: 8 },
      type: axis.scale === 'log' ? 'log' : 'linear',
      range: axis.reversed ? range.reverse() : range,
      automargin: true,
      gridcolor: look.grid,
      linecolor: look.grey,
      zeroline: false,
      showline: true,
      mirror: true,
      ticks: 'outside',
      tickcolor: look.grey,
      exponentformat: 'power',
    };
    if (axis.ticks) {
      made.tickmode = 'array';
      made.tickvals = axis.ticks.map(([value]) => axisPlaces(axis)(value));
      made.ticktext = axis.ticks.map(([, label]) => markup(label));
    } else if (axis.whole_numbers) {
      made.tickformat = ',d';
    }
    if (isSquare) made.constrain = 'domain';
    return made;
  };

  // --- Colours ------------------------------------------------------------------------------------
  const colourOf = (name, look) => look[name] || name;
  const faint = (colour, share) => {
    const part = (from) => parseInt(colour.slice(from, from + 2), 16);
    return `rgba(${part(1)}, ${part(3)}, ${part(5)}, ${share})`;
  };

  const coloursOf = (bar) => bar.colours.map((colour, k, all) => [k / (all.length - 1), colour]);

  const barOf = (bar, look) => {
    const place = placesOf(bar);
    const made = {
      title: { text: markup(bar.label), side: 'right' },
      thickness: 12,
      outlinewidth: 0,
      tickcolor: look.grey,
      exponentformat: 'power',
    };
    if (bar.ticks) {
      made.tickmode = 'array';
      made.tickvals = bar.ticks.map(([value]) => place(value));
      made.ticktext = bar.ticks.map(([, label]) => markup(label));
    } else if (bar.whole_numbers) {
      made.tickformat = ',d';
    }
    return made;
  };

  const rowsOf = (values, width) => {
    const rows = [];
    for (let i = 0; i + width <= values.length; i += width) rows.push(values.subarray(i, i + width));
    return rows;
  };

  // --- Series -------------------------------------------------------------------------------------
  const kDashes = { dashed: 'dash', dotted: 'dot' };

  const pointsOf = (panel, x, y) => ({
    type: 'scatter',
    x: at(axisPlaces(panel.x), x),
    y: at(axisPlaces(panel.y), y),
    text: Array.from(x, (value, k) => `${shown(value)}, ${shown(y[k])}`),
    hovertemplate: '%{text}<extra>%{fullData.name}</extra>',
  });

  const isEmpty = (list) => list !== undefined && !numbersOf(list).some(Number.isFinite);

  const named = (series) => ({
    name: (markup(series.label) || ' ') + (isEmpty(series.y) ? ' (no values)' : ''),
    showlegend: Boolean(series.label),
  });

  const fieldOf = (panel, series, look) => {
    const bar = panel.colour_bar;
    const place = placesOf(bar);
    const x = numbersOf(series.x);
    const y = numbersOf(series.y);
    const values = numbersOf(series.values);
    const names = (axis, value) => {
      const tick = (axis.ticks || []).find(([at_]) => at_ === value);
      return tick ? markup(tick[1]) : shown(value);
    };
    return {
      x: at(axisPlaces(panel.x), x),
      y: at(axisPlaces(panel.y), y),
      z: rowsOf(at(place, values), x.length),
      customdata: rowsOf(values, x.length).map((row, i) =>
        Array.from(row, (v, j) => `${names(panel.x, x[j])}, ${names(panel.y, y[i])}: ${shown(v)}`)
      ),
      hovertemplate: '%{customdata}<extra></extra>',
      colorscale: coloursOf(bar),
      colorbar: barOf(bar, look),
      zmin: place(bar.lower),
      zmax: place(bar.upper),
      zauto: false,
      showscale: true,
    };
  };

  const makers = {
    line(panel, series, look) {
      const colour = colourOf(series.colour, look);
      const points = pointsOf(panel, numbersOf(series.x), numbersOf(series.y));
      const uncertain = series.uncertain || [];
      const marker = { color: colour, size: 5 };
      if (uncertain.length) {
        marker.size = points.text.map(() => (series.markers ? 5 : 0));
        marker.symbol = points.text.map(() => 'circle');
        for (const k of uncertain) {
          marker.size[k] = 8;
          marker.symbol[k] = 'circle-open';
          points.text[k] += ' (not certain)';
        }
      }
      return [
        {
          ...points,
          ...named(series),
          mode: series.markers || uncertain.length ? 'lines+markers' : 'lines',
          line: {
            color: colour,
            width: 1.5 * series.width,
            dash: kDashes[series.dash] || 'solid',
            shape: series.steps ? 'hv' : 'linear',
          },
          marker,
        },
      ];
    },

    band(panel, series, look) {
      const lowest = panel.y.scale === 'log' ? panel.y.lower : -Infinity;
      const x = numbersOf(series.x);
      const low = numbersOf(series.low).map((v) => (v < lowest ? lowest : v));
      const side = (y) => ({
        ...pointsOf(panel, x, y),
        name: markup(series.label) || 'band',
        hoverinfo: 'skip',
        hovertemplate: null,
        mode: 'lines',
        line: { width: 0 },
        showlegend: false,
      });
      const upper = side(numbersOf(series.high));
      return [
        side(low),
        {
          ...upper,
          fill: 'tonexty',
          fillcolor: faint(colourOf(series.colour, look), 0.2),
          showlegend: Boolean(series.label),
        },
      ];
    },

    scatter(panel, series, look) {
      const made = {
        ...pointsOf(panel, numbersOf(series.x), numbersOf(series.y)),
        ...named(series),
        mode: 'markers',
        marker: { color: colourOf(series.colour, look), size: 3 * series.radius },
        opacity: series.opacity || 1,
      };
      if (series.values) {
        const bar = panel.colour_bar;
        const place = placesOf(bar);
        const values = numbersOf(series.values);
        made.text = made.text.map((text, k) => `${text}<br>${markup(bar.label)} ${shown(values[k])}`);
        made.marker = {
          size: 3 * series.radius,
          color: at(place, values),
          colorscale: coloursOf(bar),
          cmin: place(bar.lower),
          cmax: place(bar.upper),
          colorbar: barOf(bar, look),
          showscale: true,
          line: { width: 0.5, color: look.paper },
        };
      }
      return [made];
    },

    // Along the upper edge, where no value of y can be read off.
    marks(panel, series, look) {
      const x = numbersOf(series.x);
      const row = panel.series.filter(({ kind }) => kind === 'marks').indexOf(series);
      return [
        {
          ...pointsOf(panel, x, Float64Array.from(x, () => panel.y.upper)),
          ...named(series),
          text: Array.from(x, shown),
          cliponaxis: false,
          mode: 'markers',
          marker: { color: colourOf(series.colour, look), size: 7 + 4 * row, symbol: 'x-thin-open' },
        },
      ];
    },

    bars(panel, series, look) {
      const edges = numbersOf(series.edges);
      const heights = numbersOf(series.heights);
      const colour = colourOf(series.colour, look);
      const outline = Float64Array.from(edges, (_, k) => heights[Math.min(k, heights.length - 1)]);
      return [
        {
          ...pointsOf(panel, edges, outline),
          ...named(series),
          text: Array.from(edges, (edge, k) =>
            k < heights.length ? `${shown(edge)} to ${shown(edges[k + 1])}: ${shown(heights[k])}` : ''
          ),
          mode: 'lines',
          line: { color: colour, width: 1, shape: 'hv' },
          fill: 'tozeroy',
          fillcolor: faint(colour, 0.5),
        },
      ];
    },

    'heat-map'(panel, series, look) {
      const made = { ...fieldOf(panel, series, look), type: 'heatmap', xgap: 1, ygap: 1 };
      const values = numbersOf(series.values);
      if (series.numbers && values.length <= 81) {
        made.text = rowsOf(values, made.x.length).map((row) =>
          Array.from(row, (v) => (Number.isFinite(v) ? String(Number(v.toPrecision(2))) : ''))
        );
        made.texttemplate = '%{text}';
      }
      return [made];
    },

    'filled-contours'(panel, series, look) {
      const made = { ...fieldOf(panel, series, look), type: 'contour', connectgaps: false };
      const none = { at: 0, count: 0 };
      const levels = at(placesOf(panel.colour_bar), numbersOf(panel.colour_bar.levels || none));
      made.line = { width: series.lines ? 0.5 : 0, color: faint(look.paper, 0.6) };
      made.contours = { coloring: 'fill', showlines: Boolean(series.lines) };
      if (levels.length > 1) {
        const size = (levels[levels.length - 1] - levels[0]) / (levels.length - 1);
        Object.assign(made.contours, { start: levels[0], end: levels[levels.length - 1], size });
        made.autocontour = false;
      }
      return [made];
    },

    'contour-lines'(panel, series, look) {
      const x = numbersOf(series.x);
      return Array.from(numbersOf(series.levels), (level, k) => ({
        type: 'contour',
        x: at(axisPlaces(panel.x), x),
        y: at(axisPlaces(panel.y), numbersOf(series.y)),
        z: rowsOf(numbersOf(series.values), x.length),
        contours: { type: 'constraint', operation: '=', value: level },
        line: { color: colourOf(series.colour, look), width: 1.2 },
        name: markup(series.label) || ' ',
        showlegend: k === 0 && Boolean(series.label),
        showscale: false,
        hoverinfo: 'skip',
      }));
    },

    reference(panel, series, look) {
      const kPieces = 128;
      const ends = (axis) => [axis.lower, axis.upper];
      let x = ends(panel.x);
      let y = [series.intercept, series.intercept];
      if (series.direction === 'vertical') {
        x = y;
        y = ends(panel.y);
      } else if (series.direction === 'sloped') {
        const [low, high] = ends(panel.x);
        const step = (k) =>
          panel.x.scale === 'log'
            ? low * (high / low) ** (k / kPieces)
            : low + ((high - low) * k) / kPieces;
        x = Float64Array.from({ length: kPieces + 1 }, (_, k) => step(k));
        y = x.map((value) => series.intercept + series.slope * value);
      }
      return [
        {
          ...pointsOf(panel, x, y),
          ...named(series),
          hoverinfo: 'skip',
          hovertemplate: null,
          mode: 'lines',
          line: {
            color: colourOf(series.colour, look),
            width: 1.2,
            dash: kDashes[series.dash] || 'solid',
          },
        },
      ];
    },
  };

  const isField = (series) => series.kind === 'heat-map' || series.kind === 'filled-contours';
  const depth = (series) => (isField(series) ? 0 : series.kind === 'band' ? 1 : 2);

  const layoutOf = (panel, look) => ({
    paper_bgcolor: 'rgba(0, 0, 0, 0)',
    plot_bgcolor: 'rgba(0, 0, 0, 0)',
    font: { color: look.ink, size: 13, family: look.font },
    title: panel.title
      ? { text: markup(panel.title), font: { size: 14 }, x: 0.02, xanchor: 'left' }
      : undefined,
    margin: { l: 56, r: 16, t: panel.title ? 40 : 16, b: 48 },
    hovermode: 'closest',
    hoverlabel: { bgcolor: look.paper, font: { color: look.ink }, bordercolor: look.grey },
    legend: { orientation: 'h', y: -0.22, yanchor: 'top', x: 0, xanchor: 'left' },
    modebar: { bgcolor: 'rgba(0, 0, 0, 0)', color: look.grey, activecolor: look.ink },
    dragmode: 'zoom',
    uirevision: 'kept',
  });

  // A panel as plotly.js wants it, flat.
  const flat = (panel, look) => {
    const data = [...panel.series]
      .map((series, order) => ({ series, order }))
      .sort((a, b) => depth(a.series) - depth(b.series) || a.order - b.order)
      .flatMap(({ series }) => makers[series.kind](panel, series, look));
    const layout = layoutOf(panel, look);
    layout.xaxis = axisOf(panel.x, look, panel.square);
    layout.yaxis = axisOf(panel.y, look, panel.square);
    layout.showlegend = panel.legend !== 'none' && data.some((trace) => trace.showlegend);
    if (panel.square) Object.assign(layout.yaxis, { scaleanchor: 'x' });
    return { data, layout };
  };

  // --- In three dimensions ------------------------------------------------------------------------
  const surfaceOf = (panel) => panel.series && panel.series.find((s) => s.kind === 'filled-contours');

  // The height of a grid at a point, by bilinear interpolation; NaN beside it.
  const heightAt = (x, y, z, u, v) => {
    const cell = (list, value) => {
      for (let k = 0; k + 1 < list.length; ++k) {
        if (value >= list[k] && value <= list[k + 1]) return k;
      }
      return -1;
    };
    const i = cell(y, v);
    const j = cell(x, u);
    if (i < 0 || j < 0) return NaN;
    const s = (u - x[j]) / (x[j + 1] - x[j]);
    const t = (v - y[i]) / (y[i + 1] - y[i]);
    return (
      (1 - t) * ((1 - s) * z[i][j] + s * z[i][j + 1]) +
      t * ((1 - s) * z[i + 1][j] + s * z[i + 1][j + 1])
    );
  };

  // Filled contours as a surface over the plane, with the panel's lines upon it.
  const raised = (panel, look) => {
    const field = fieldOf(panel, surfaceOf(panel), look);
    const { zmin, zmax, zauto, ...surface } = field;
    const data = [{ ...surface, type: 'surface', cmin: zmin, cmax: zmax, hoverinfo: 'text' }];
    const above = 0.01 * (zmax - zmin);
    for (const series of panel.series.filter((s) => s.kind === 'line')) {
      const x = numbersOf(series.x);
      const y = numbersOf(series.y);
      const isHalo = series.colour === 'paper';
      if (isHalo) continue;
      data.push({
        type: 'scatter3d',
        mode: 'lines+markers',
        x,
        y,
        z: Array.from(x, (u, k) => heightAt(field.x, field.y, field.z, u, y[k]) + above),
        name: markup(series.label) || 'trajectory',
        line: { color: colourOf(series.colour, look), width: 5 },
        marker: { color: colourOf(series.colour, look), size: 2.5 },
        hoverinfo: 'skip',
        showlegend: false,
      });
    }
    const axis = (text) => ({
      title: { text: markup(text) },
      color: look.ink,
      gridcolor: look.grid,
      backgroundcolor: 'rgba(0, 0, 0, 0)',
    });
    const bar = panel.colour_bar;
    const layout = layoutOf(panel, look);
    layout.margin = { l: 0, r: 0, t: panel.title ? 40 : 8, b: 0 };
    layout.scene = {
      xaxis: axis(panel.x.label.split(',')[0]),
      yaxis: axis(panel.y.label.split(',')[0]),
      zaxis: { ...axis(bar.label), ...(bar.ticks ? barOf(bar, look) : {}), title: { text: markup(bar.label) } },
      camera: { eye: { x: 1.5, y: -1.5, z: 1.1 } },
    };
    return { data, layout };
  };

  // --- As a table ---------------------------------------------------------------------------------
  // The numbers that a panel shows: a heading and rows of numbers for each series.
  const numbersIn = (panel) =>
    (panel.series || [])
      .filter((series) => series.kind !== 'reference')
      .map((series) => {
        const columns = [];
        const add = (name, list) => list && columns.push([name, numbersOf(list)]);
        const axis = (letter) => plain(panel[letter].label) || letter;
        if (isField(series) || series.kind === 'contour-lines') {
          const x = numbersOf(series.x);
          const y = numbersOf(series.y);
          const count = x.length * y.length;
          columns.push([axis('x'), Float64Array.from({ length: count }, (_, k) => x[k % x.length])]);
          columns.push([
            axis('y'),
            Float64Array.from({ length: count }, (_, k) => y[Math.floor(k / x.length)]),
          ]);
          add(panel.colour_bar ? plain(panel.colour_bar.label) : 'value', series.values);
        } else {
          add(axis('x'), series.x || series.edges);
          add(axis('y'), series.y || series.heights);
          add('lower end', series.low);
          add('upper end', series.high);
          if (series.values) add(plain(panel.colour_bar.label), series.values);
        }
        return { label: plain(series.label), columns };
      });

  return { takeNumbers, flat, raised, canRaise: (panel) => Boolean(surfaceOf(panel)), numbersIn, plain, shown };
})();

if (typeof module !== 'undefined') module.exports = figures; // for tests outside of a page
