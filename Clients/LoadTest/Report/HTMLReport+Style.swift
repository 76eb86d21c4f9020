extension HTMLReport {
    /// For screens of any width, in light and in darkness, and for A4.
    static let style = """
        :root { color-scheme: light dark; --ink: #1b1f24; --soft: #5b6470; --paper: #fff; --rule: #dfe3e8;
            --c0: #0b6bcb; --c1: #c2410c; --c2: #6b7280; --good: #15803d; --bad: #b91c1c; }
        @media (prefers-color-scheme: dark) { :root { --ink: #e6e9ed; --soft: #9aa4b0; --paper: #14171b;
            --rule: #2d333b; --c0: #6cb2ff; --c1: #ff9d5c; --c2: #9ca3af; --good: #4ade80; --bad: #f87171; } }
        * { box-sizing: border-box; }
        body { margin: 0 auto; padding: 1rem; max-width: 70rem; background: var(--paper); color: var(--ink);
            font: 15px/1.45 system-ui, sans-serif; }
        h1 { font-size: 1.4rem; margin: 0; } h2 { font-size: 1.1rem; margin: 1.6rem 0 .5rem; }
        .subtitle { color: var(--soft); margin: .2rem 0 0; }
        .wide { overflow-x: auto; }
        table { border-collapse: collapse; font-variant-numeric: tabular-nums; margin: .3rem 0 .8rem; }
        th, td { padding: .2rem .5rem; text-align: right; border-bottom: 1px solid var(--rule); }
        th { color: var(--soft); font-weight: 500; } td:first-child, th:first-child { text-align: left; }
        td, th { white-space: nowrap; }
        .text td { overflow-wrap: anywhere; white-space: normal; min-width: 4em; }
        @media (max-width: 34rem) { table { font-size: .82rem; } th, td { padding: .2rem .3rem; } }
        .charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 19rem), 1fr)); gap: .8rem; }
        figure { margin: 0; break-inside: avoid; } figcaption { font-weight: 500; font-size: .9rem; }
        svg { width: 100%; height: auto; display: block; }
        svg text { font: 12px system-ui, sans-serif; fill: var(--soft); }
        .grid { stroke: var(--rule); stroke-width: 1; } .mark { stroke: var(--bad); stroke-dasharray: 1 3; }
        .bar { fill: var(--c0); }
        .line { fill: none; stroke-width: 1.8; stroke-linejoin: round; stroke-linecap: round; }
        .l0 { stroke: var(--c0); } .l1 { stroke: var(--c1); stroke-dasharray: 6 3; }
        .l2 { stroke: var(--c2); stroke-dasharray: 1 4; }
        .legend { margin: .1rem 0 0; font-size: .8rem; color: var(--soft); display: flex; gap: 1rem; }
        .legend span { display: flex; align-items: center; gap: .3rem; } .key { width: 24px; }
        .good { color: var(--good); } .bad { color: var(--bad); }
        @page { size: A4; margin: 14mm; }
        @media print { :root { --ink: #000; --soft: #444; --paper: #fff; --rule: #ccc; --c0: #0b5cad;
            --c1: #a83a0a; --c2: #555; --good: #0a5c2b; --bad: #9b1c1c; }
            body { padding: 0; font-size: 10.5pt; max-width: none; }
            .charts { grid-template-columns: 1fr 1fr; } h2 { break-after: avoid; } tr { break-inside: avoid; } }
        """
}
