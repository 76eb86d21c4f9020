import HTTPTypes

/// The server's figures over an hour or a day, as plots with tables.
struct TelemetryPages: Sendable {
    /// Rows of the table below a plot: a row each five minutes of an hour, or two hours of a day.
    private static let shortRows = 12

    let console: ConsolePages

    /// All plots.
    func overview(_ request: PageRequest) async throws -> Page {
        let span = try Self.span(request)
        guard let telemetry = try await self.telemetry(span) else { return self.page(request, Self.absence) }
        let plots = telemetry.plots.map { PlotMarkup($0, of: telemetry) }
        guard plots.contains(where: { !$0.isEmpty }) else {
            return self.page(request, self.head(telemetry, at: "/telemetry"))
        }
        let figures = plots.map { markup -> Markup in
            let all = PageURL("/telemetry/\(markup.plot.id)", [PageURL.Item("span", span.rawValue)])
            return markup.figure(
                """
                <details><summary>As a table</summary>
                \(markup.table(rows: Self.shortRows))
                <p><a href="\(all)">All figures of \(markup.plot.title)</a></p>
                </details>
                """
            )
        }
        return self.page(
            request,
            """
            \(self.head(telemetry, at: "/telemetry"))
            \(Self.key)
            <div class="plots">\(figures)</div>
            \(ConsoleFile.plots.module)
            """
        )
    }

    /// One plot, with all its figures.
    func one(_ request: PageRequest) async throws -> Page {
        let span = try Self.span(request)
        guard let telemetry = try await self.telemetry(span),
            let plot = telemetry.plots.first(where: { $0.id == request.path["plot"] })
        else { throw PageFailure.missing("There is no such plot.") }
        let asked = request.query["after"].flatMap { Int($0) } ?? 0
        let first = min(max(0, asked), telemetry.intervalCount)
        let markup = PlotMarkup(plot, of: telemetry)
        let path = "/telemetry/\(plot.id)"
        let isMore = first + ConsolePages.rowsMax < telemetry.intervalCount
        let next = PageURL(
            path,
            [
                PageURL.Item("span", span.rawValue),
                PageURL.Item("after", "\(first + ConsolePages.rowsMax)"),
            ]
        )
        return self.page(
            request,
            title: plot.title,
            """
            \(self.head(telemetry, at: path))
            \(markup.figure(""))
            \(markup.table(of: first..<first + ConsolePages.rowsMax))
            \(Parts.next(isMore ? next : nil))
            <p><a href="\(PageURL("/telemetry", [PageURL.Item("span", span.rawValue)]))">All plots</a></p>
            \(ConsoleFile.plots.module)
            """
        )
    }

    // MARK: Parts

    private func page(_ request: PageRequest, title: String = "Telemetry", _ body: Markup) -> Page {
        var page = self.console.page(title, request, body)
        page.tool = .telemetry
        return page
    }

    private static let absence: Markup = """
        <p class="empty">No server has kept figures in this folder yet. A server that runs adds to them every
        ten seconds.</p>
        """

    private static func span(_ request: PageRequest) throws -> Telemetry.Span {
        guard let text = request.query["span"] else { return .hour }
        guard let span = Telemetry.Span(rawValue: text) else {
            throw PageFailure.missing("Figures are kept of the last hour and of the last day.")
        }
        return span
    }

    private func telemetry(_ span: Telemetry.Span) async throws -> Telemetry? {
        let read = self.console.configuration.telemetry
        switch try await self.console.blocking({ read(span) }) {
        case .found(let telemetry): return telemetry
        case .none: return nil
        case .unreadable(let text): throw PageFailure(.serviceUnavailable, "No figures", text)
        }
    }

    private func head(_ telemetry: Telemetry, at path: String) -> Markup {
        let tabs = Telemetry.Span.allCases.map { span in
            (
                title: "Last \(span.rawValue)",
                url: PageURL(path, [PageURL.Item("span", span.rawValue)]),
                isCurrent: span == telemetry.span
            )
        }
        return """
            <p class="lead">Figures that the server keeps itself. Times are UTC.</p>
            \(Parts.tabs("Time", tabs))
            \(self.state(telemetry))
            """
    }

    private static let key: Markup = """
        <p class="key">
        <span><svg class="swatch" viewBox="0 0 24 8" preserveAspectRatio="none" aria-hidden="true"><path class="gap" d="M0 0H24V8H0z"/></svg> no server ran</span>
        <span><svg class="swatch" viewBox="0 0 24 8" preserveAspectRatio="none" aria-hidden="true"><path class="start" d="M12 0V8"/></svg> a server began</span>
        </p>
        """

    /// The end of the figures, if that is not now.
    private func state(_ telemetry: Telemetry) -> Markup {
        guard let last = telemetry.watchedUntilMilliseconds else {
            return Parts.notice("No figures are known yet. A server adds to them every ten seconds.")
        }
        // Two intervals of ten seconds: a sample may be late.
        guard self.console.configuration.now() - last > 30_000 else { return "" }
        let end = Shown.time(milliseconds: last)
        return switch self.console.configuration.serverState() {
        case .serving:
            Parts.notice(
                "The server has kept no figures since \(end). Its log says why: look for “figures for the console”.",
                isError: true
            )
        case .notServing: Parts.notice("No server has run since \(end).")
        }
    }
}

extension ConsoleFile {
    /// The element that loads a script on the page that needs it.
    var module: Markup { "<script type=\"module\" src=\"\(self.path)\"></script>" }
}
