'use strict';
// What a reader can do on a report: turn pages of a figure, look at it in three dimensions, save
// it, sort and copy tables, choose light or dark. Without it the page is complete but for figures.
(() => {
  const $ = (selector, from = document) => from.querySelector(selector);
  const all = (selector, from = document) => [...from.querySelectorAll(selector)];
  const make = (tag, properties = {}, ...children) => {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...children);
    return element;
  };
  // Text whose ^{...} and _{...} are raised and lowered.
  const markedUp = (text) =>
    text.split(/([\^_]\{[^}]*\})/).map((part) => {
      const [, sign, script] = part.match(/^([\^_])\{([^}]*)\}$/) || [];
      return sign ? make(sign === '^' ? 'sup' : 'sub', { textContent: script.replace(/^-/, '\u2212') }) : part;
    });
  const say = (text) => {
    $('#said').textContent = text;
  };

  // --- Light and dark -----------------------------------------------------------------------------
  const root = document.documentElement;
  const kTheme = 'hesscope-theme';
  const stored = () => {
    try {
      return localStorage.getItem(kTheme);
    } catch {
      return null; // pages from a disk may have no storage
    }
  };
  const prefersDark = matchMedia('(prefers-color-scheme: dark)');
  const setTheme = (theme) => {
    root.dataset.theme = theme;
    $('#theme').setAttribute('aria-pressed', String(theme === 'dark'));
  };
  setTheme(stored() || (prefersDark.matches ? 'dark' : 'light'));

  const look = () => {
    const style = getComputedStyle(root);
    const colour = (name) => style.getPropertyValue(`--${name}`).trim();
    return {
      ink: colour('ink'),
      grey: colour('grey'),
      paper: colour('paper'),
      grid: colour('grid'),
      font: getComputedStyle(document.body).fontFamily,
    };
  };

  // --- Figures ------------------------------------------------------------------------------------
  // What a script of the page has packed.
  const unpacked = (id) => {
    const letters = atob($(`#${id}`).textContent.trim());
    const bytes = new Uint8Array(letters.length);
    for (let i = 0; i < bytes.length; ++i) bytes[i] = letters.charCodeAt(i);
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip')));
  };

  // The two bundles of plotly.js, each started when it is first needed; both call themselves Plotly.
  const bundles = {};
  const plotly = (name = 'flat') => {
    bundles[name] ||= (async () => {
      const code = await unpacked(`plotly-${name}`).text();
      const other = window.Plotly;
      document.head.append(make('script', { textContent: code }));
      const library = window.Plotly;
      if (!library || library === other) throw new Error('plotly.js did not start');
      return library;
    })();
    return bundles[name];
  };

  const saved = (plot, format, name) =>
    plotly(plot.dataset.bundle).then((library) =>
      library.downloadImage(plot, {
        format,
        filename: name,
        width: plot.clientWidth,
        height: plot.clientHeight,
        scale: format === 'png' ? 3 : 1,
      })
    );

  const copied = async (text) => {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      // From a disk a page may have no clipboard: the old way.
      const area = make('textarea', { value: text });
      document.body.append(area);
      area.select();
      document.execCommand('copy');
      area.remove();
    }
    say('Copied.');
  };

  const kConfiguration = {
    responsive: true,
    displaylogo: false,
    displayModeBar: 'hover',
    modeBarButtonsToRemove: ['toImage', 'select2d', 'lasso2d', 'sendDataToCloud'],
  };

  class Picture {
    constructor(element, description) {
      this.element = element;
      this.views = description.views;
      this.view = 0;
      this.frame = this.frames().length - 1;
      this.isRaised = false;
      this.plots = [];
      this.addControls();
    }

    frames() {
      return this.views[this.view].frames;
    }

    figure() {
      return this.frames()[this.frame].figure;
    }

    addControls() {
      const controls = $('.controls', this.element);
      if (this.views.length > 1) {
        const options = this.views.map(({ name }, k) => make('option', { value: k, textContent: name }));
        this.chooser = make('select', { onchange: () => this.choose(Number(this.chooser.value)) }, ...options);
        controls.append(make('label', {}, make('span', { textContent: 'Show' }), this.chooser));
      }
      const name = this.element.dataset.slider;
      if (name) {
        this.slider = make('input', { type: 'range', min: 0, step: 1, oninput: () => this.turn() });
        this.position = make('output');
        this.sliderLabel = make('label', { className: 'slider' }, make('span', { textContent: name }), this.slider, this.position);
        controls.append(this.sliderLabel);
      }
      this.raise = make('button', {
        type: 'button',
        className: 'raise',
        textContent: '3-D',
        onclick: () => {
          this.isRaised = !this.isRaised;
          this.rebuild();
        },
      });
      controls.append(this.raise);
      for (const format of ['svg', 'png']) {
        controls.append(
          make('button', {
            type: 'button',
            className: `save ${format}`,
            textContent: format.toUpperCase(),
            title: `Save as ${format.toUpperCase()}`,
            onclick: () =>
              this.plots.forEach((plot, k) =>
                saved(plot, format, this.element.id + (this.plots.length > 1 ? `-${k + 1}` : ''))
              ),
          })
        );
      }
      const details = $('.numbers', this.element);
      details.addEventListener('toggle', () => this.showNumbers());
      this.showControls();
    }

    showControls() {
      const count = this.frames().length;
      if (this.slider) {
        this.slider.max = count - 1;
        this.slider.value = this.frame;
        this.sliderLabel.hidden = count < 2;
        this.position.textContent = this.frames()[this.frame].label;
        this.slider.setAttribute('aria-valuetext', this.frames()[this.frame].label);
      }
      const isTable = this.figure().panels.every((panel) => panel.table);
      all('button.save', this.element).forEach((button) => (button.hidden = isTable));
      $('.numbers', this.element).hidden = isTable;
      const canRaise = this.figure().panels.some(figures.canRaise);
      this.raise.hidden = !canRaise;
      this.isRaised = this.isRaised && canRaise;
      this.raise.setAttribute('aria-pressed', String(this.isRaised));
    }

    choose(view) {
      const wasLast = this.frame === this.frames().length - 1;
      this.view = view;
      const last = this.frames().length - 1;
      this.frame = wasLast ? last : Math.min(this.frame, last);
      this.rebuild();
    }

    turn() {
      this.frame = Number(this.slider.value);
      this.draw();
    }

    rebuild() {
      for (const plot of this.plots) plotly(plot.dataset.bundle).then((library) => library.purge(plot));
      this.plots = [];
      $('.panels', this.element).replaceChildren();
      this.draw();
    }

    async draw() {
      this.showControls();
      const { panels, columns } = this.figure();
      const area = $('.panels', this.element);
      area.style.setProperty('--columns', columns || Math.min(panels.length, 2));
      if (area.children.length !== panels.length) {
        area.replaceChildren(...panels.map(() => make('div', { className: 'panel' })));
        this.plots = [];
      }
      const drawings = panels.map((panel, k) => this.drawPanel(area.children[k], panel));
      this.plots = (await Promise.all(drawings)).filter(Boolean);
      this.showNumbers();
      this.element.dataset.drawn = 'yes';
    }

    async drawPanel(place, panel) {
      if (panel.table) {
        place.replaceChildren(tableOf(panel.title, panel.table));
        return null;
      }
      if (panel.empty) {
        place.replaceChildren(make('p', { className: 'nothing', textContent: `Nothing to see: ${figures.plain(panel.note) || 'every number is missing'}.` }));
        return null;
      }
      let plot = $('.plot', place);
      if (!plot) {
        plot = make('div', { className: 'plot' });
        place.replaceChildren(plot, make('p', { className: 'note' }));
      }
      plot.setAttribute('role', 'group');
      plot.setAttribute('aria-label', [figures.plain(panel.title), this.figure().description].filter(Boolean).join(': '));
      const isRaised = this.isRaised && figures.canRaise(panel);
      const { data, layout } = isRaised ? figures.raised(panel, look()) : figures.flat(panel, look());
      const width = place.clientWidth;
      layout.height = panel.square || isRaised ? Math.min(Math.max(width, 280), 560) : 380;
      $('.note', place).replaceChildren(...markedUp(panel.note || ''));
      plot.dataset.bundle = isRaised ? 'raised' : 'flat';
      const library = await plotly(plot.dataset.bundle);
      await library.react(plot, data, layout, kConfiguration);
      return plot;
    }

    showNumbers() {
      const details = $('.numbers', this.element);
      if (!details.open) return;
      const body = $('div', details);
      const kMost = 500;
      body.replaceChildren(
        ...this.figure().panels.flatMap((panel) =>
          figures.numbersIn(panel).map(({ label, columns }) => {
            const count = columns.length ? columns[0][1].length : 0;
            const heading = columns.map(([name]) => name);
            const row = (k) => columns.map(([, list]) => (k < list.length ? String(list[k]) : ''));
            const rows = Array.from({ length: Math.min(count, kMost) }, (_, k) => row(k));
            const copy = make('button', {
              type: 'button',
              textContent: 'Copy',
              onclick: () =>
                copied(
                  [heading, ...Array.from({ length: count }, (_, k) => row(k))]
                    .map((cells) => cells.join('\t'))
                    .join('\n')
                ),
            });
            const title = [figures.plain(panel.title), label].filter(Boolean).join(', ');
            const shortened = count > kMost ? ` (the first ${kMost} of ${count}; Copy takes all)` : '';
            return make('div', {}, make('p', {}, `${title}${shortened} `, copy), tableOf(title, [heading, ...rows]));
          })
        )
      );
    }
  }

  // Rows of text, the first the heading.
  const tableOf = (caption, [heading, ...rows]) =>
    make(
      'div',
      { className: 'scroll', tabIndex: 0 },
      make(
        'table',
        {},
        make('caption', { textContent: figures.plain(caption || '') }),
        make('thead', {}, make('tr', {}, ...heading.map((text) => make('th', { scope: 'col', textContent: figures.plain(text) })))),
        make('tbody', {}, ...rows.map((row) => make('tr', {}, ...row.map((text) => make('td', { textContent: figures.plain(text) })))))
      )
    );

  const failed = (error) => {
    for (const panels of all('figure.picture .panels')) {
      if (panels.children.length) continue;
      panels.append(
        make('p', {
          className: 'nothing',
          textContent: `The figure could not be drawn: ${error.message}. A newer browser may do it; hesscope plot draws it as a file.`,
        })
      );
    }
  };

  const startFigures = async () => {
    const [descriptions, numbers] = await Promise.all([unpacked('figures').json(), unpacked('numbers').arrayBuffer()]);
    figures.takeNumbers(new Uint8Array(numbers));
    const pictures = all('figure.picture').map((element) => new Picture(element, descriptions[element.id]));
    // What is far below is drawn when it comes near.
    const watcher = new IntersectionObserver(
      (entries) => {
        for (const entry of entries.filter(({ isIntersecting }) => isIntersecting)) {
          watcher.unobserve(entry.target);
          const picture = pictures.find(({ element }) => element === entry.target);
          picture.draw().catch(failed);
        }
      },
      { rootMargin: '600px' }
    );
    pictures.forEach(({ element }) => watcher.observe(element));
    const redraw = () => pictures.filter(({ element }) => element.dataset.drawn).forEach((picture) => picture.draw());
    $('#theme').addEventListener('click', () => {
      const theme = root.dataset.theme === 'dark' ? 'light' : 'dark';
      setTheme(theme);
      try {
        localStorage.setItem(kTheme, theme);
      } catch {
        // Forgotten with the page.
      }
      redraw();
    });
    prefersDark.addEventListener('change', ({ matches }) => {
      if (stored()) return;
      setTheme(matches ? 'dark' : 'light');
      redraw();
    });
    // On paper everything is there.
    addEventListener('beforeprint', () => pictures.forEach((picture) => picture.draw()));
    root.dataset.started = 'yes';
  };

  // --- Tables -------------------------------------------------------------------------------------
  const startTable = (table) => {
    const heads = all('thead th', table);
    heads.forEach((head, column) => {
      const button = $('button.sort', head);
      if (!button) return;
      button.addEventListener('click', () => {
        const isUp = head.getAttribute('aria-sort') !== 'ascending';
        heads.forEach((each) => each.removeAttribute('aria-sort'));
        head.setAttribute('aria-sort', isUp ? 'ascending' : 'descending');
        const body = $('tbody', table);
        const cell = (row) => row.cells[column];
        // What is no number comes last, either way.
        const order = (a, b) => {
          const [x, y] = [a, b].map((row) => parseFloat(cell(row).dataset.value));
          if (Number.isNaN(x) && Number.isNaN(y)) {
            const words = cell(a).textContent.localeCompare(cell(b).textContent, undefined, { numeric: true });
            return isUp ? words : -words;
          }
          if (Number.isNaN(x)) return 1;
          if (Number.isNaN(y)) return -1;
          return isUp ? x - y : y - x;
        };
        body.append(...[...body.rows].sort(order));
        say(`Sorted by ${button.textContent}, ${isUp ? 'ascending' : 'descending'}.`);
      });
    });
    const copy = $(`button.copy[data-table="${table.id}"]`);
    if (!copy) return;
    copy.addEventListener('click', () => {
      const text = (cell) => cell.dataset.value ?? cell.textContent.trim();
      const rows = [[...table.tHead.rows], [...table.tBodies[0].rows]].flat();
      copied(rows.map((row) => [...row.cells].map(text).join('\t')).join('\n'));
    });
  };

  // A definition is shown where it is asked for.
  const startDefinitions = () => {
    const box = $('#definition');
    document.addEventListener('click', (event) => {
      const link = event.target.closest('a.definition');
      if (!link || !box.showModal) return;
      const definition = document.getElementById(decodeURIComponent(link.hash.slice(1)));
      if (!definition) return;
      event.preventDefault();
      $('div', box).replaceChildren(...[...definition.children].map((child) => child.cloneNode(true)));
      box.showModal();
    });
    box.addEventListener('click', (event) => {
      if (event.target === box) box.close();
    });
    $('button', box).addEventListener('click', () => box.close());
  };

  all('table.sortable').forEach(startTable);
  startDefinitions();
  plotly().catch(failed); // unpacked while the figures are
  startFigures().catch(failed);
})();
