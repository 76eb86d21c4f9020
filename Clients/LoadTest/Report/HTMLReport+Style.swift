extension HTMLReport {
    /// For screens of any width, in light and dark mode, and for A4.
    static let style = """
        :root { color-scheme: light dark; --ink: #1b1f24; --soft: #5b6470; --paper: #fff; --rule: #dfe3e8;
            --tint: #f4f6f8; --c0: #0b6bcb; --c1: #c2410c; --c2: #6b7280; --good: #15803d; --bad: #b91c1c;
            --warn: #92400e; }
        @media (prefers-color-scheme: dark) { :root { --ink: #e6e9ed; --soft: #9aa4b0; --paper: #14171b;
            --rule: #2d333b; --tint: #1c2127; --c0: #6cb2ff; --c1: #ff9d5c; --c2: #9ca3af; --good: #4ade80;
            --bad: #f87171; --warn: #fbbf24; } }
        * { box-sizing: border-box; }
        body { margin: 0 auto; padding: 1.5rem 1rem 3rem; max-width: 72rem; background: var(--paper);
            color: var(--ink); font: 15px/1.45 system-ui, sans-serif; }
        h1 { font-size: 1.4rem; margin: 0 0 .3rem; } h2 { font-size: 1.1rem; margin: 1.8rem 0 .5rem; }
        .subtitle { color: var(--soft); margin: 0; overflow-wrap: anywhere; }
        .warning { color: var(--warn); font-weight: 600; margin: .6rem 0 0; }
        .note { color: var(--soft); font-size: .9rem; margin: .2rem 0; max-width: 48rem; }
        .figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(10.5rem, 1fr)); gap: .7rem;
            margin: 1.1rem 0; }
        .figures div { background: var(--tint); border-left: 3px solid var(--rule); padding: .6rem .8rem; }
        .figures strong { display: block; font-size: 1.9rem; line-height: 1.15; font-weight: 650;
            font-variant-numeric: tabular-nums; }
        .figures span { color: var(--soft); font-size: .85rem; line-height: 1.3; display: block; }
        .figures .good { border-color: var(--good); } .figures .bad { border-color: var(--bad); }
        .figures .good strong { color: var(--good); } .bad strong, p.bad { color: var(--bad); }
        table { border-collapse: collapse; font-variant-numeric: tabular-nums; margin: .3rem 0 .8rem; }
        th, td { padding: .25rem .7rem; text-align: right; border-bottom: 1px solid var(--rule); }
        th { color: var(--soft); font-weight: 500; } th:first-child, td:first-child { text-align: left; padding-left: 0; }
        .numbers { width: 100%; } .numbers th, .numbers td { white-space: nowrap; }
        .text td { overflow-wrap: anywhere; vertical-align: top; } .text td:first-child { min-width: 8em; }
        .text td:last-child { text-align: left; } .pair .text td:last-child { text-align: right;
            white-space: nowrap; overflow-wrap: normal; }
        .pair { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 24rem), 1fr)); gap: 0 2rem;
            align-items: start; }
        .beside { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: 0 2rem; align-items: start; }
        .charts { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 19rem), 1fr)); gap: .8rem; }
        figure { margin: 0; max-width: 34rem; break-inside: avoid; }
        figcaption { font-weight: 500; font-size: .9rem; }
        svg { width: 100%; height: auto; display: block; }
        svg text { font: 12px system-ui, sans-serif; fill: var(--soft); }
        .grid { stroke: var(--rule); stroke-width: 1; } .mark { stroke: var(--bad); stroke-dasharray: 1 3; }
        .bar { fill: var(--c0); }
        .line, .points { fill: none; stroke-linejoin: round; stroke-linecap: round; }
        .line { stroke-width: 1.6; } .points { stroke-width: 4; }
        .l0 { stroke: var(--c0); } .l1 { stroke: var(--c1); } .l2 { stroke: var(--c2); }
        .legend { margin: .1rem 0 0; font-size: .8rem; color: var(--soft); display: flex; flex-wrap: wrap; gap: 0 1rem; }
        .legend span { display: flex; align-items: center; gap: .3rem; } .key { width: 24px; }
        details { margin-top: 1.8rem; } summary { cursor: pointer; font-weight: 600; }
        @media screen and (max-width: 54rem) { .numbers thead { display: none; }
            .numbers, .numbers tbody { display: block; }
            .numbers tr { display: grid; grid-template-columns: repeat(5, 1fr); gap: .2rem .5rem; padding: .5rem 0;
                border-bottom: 1px solid var(--rule); }
            .numbers td { display: block; border: 0; padding: 0; text-align: left; }
            .numbers td[data-name]::before { content: attr(data-name); display: block; color: var(--soft);
                font-size: .75rem; line-height: 1.2; white-space: normal; }
            .numbers td:first-child:not([data-name]) { grid-column: 1 / -1; font-weight: 600; }
            .numbers td[data-name^="p50"] { grid-column-start: 1; }
            .beside { grid-template-columns: minmax(0, 1fr); }
            .figures { grid-template-columns: 1fr 1fr; } .figures strong { font-size: 1.5rem; } }
        @page { size: A4; margin: 13mm 13mm 16mm;
            @bottom-right { content: counter(page) " / " counter(pages); font: 8pt system-ui, sans-serif; color: #444; } }
        @media print { :root { --ink: #000; --soft: #444; --paper: #fff; --rule: #ccc; --tint: #f4f4f4; --c0: #0b5cad;
            --c1: #a83a0a; --c2: #555; --good: #0a5c2b; --bad: #9b1c1c; --warn: #7a3a06; }
            html { font-size: 12px; } body { padding: 0; font-size: 9pt; max-width: none; print-color-adjust: exact; }
            h2 { break-after: avoid; margin-top: .9rem; } tr, .figures div { break-inside: avoid; }
            .kind { break-inside: avoid; } details { display: none; }
            .figures { grid-template-columns: repeat(auto-fit, minmax(8rem, 1fr)); } .figures strong { font-size: 1.4rem; }
            .charts { grid-template-columns: 1fr 1fr 1fr; gap: .5rem; } .pair { grid-template-columns: 1fr 1fr; }
            th, td { padding: .12rem .4rem; } svg text { font-size: 17px; } .legend { font-size: 7pt; gap: 0 .6rem; } }
        """
}
