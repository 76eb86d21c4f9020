import HTTPTypes
import Hummingbird
import NIOCore
import NIOPosix
import RecordJSON
import ServiceLifecycle

/// The server's log: its newest lines, filtered, and new lines as they come.
struct LogPages: Sendable {
    /// Bytes of a value in a line.
    private static let valueBytesMax = 256
    private static let messageBytesMax = 1_024

    let console: ConsolePages

    func log(_ request: PageRequest) async throws -> Page {
        let filter = LogFilter(request.query)
        guard let source = self.console.configuration.log().source else {
            return self.page(request, Self.absence)
        }
        let before = request.query["before"]
        let found: LogPage
        do {
            found = try await self.console.blocking { try source.page(before: before, filter) }
        } catch let failure as PageFailure {
            return self.page(request, self.form(filter) + Parts.notice("\(failure.text)", isError: true))
        }
        let older = found.older.map { PageURL("/logs", filter.items).adding("before", $0) }
        let follow: Markup = before == nil ? self.follow(filter, from: found.end) : Self.newest(filter)
        return self.page(
            request,
            """
            \(self.form(filter))
            \(follow)
            \(self.table(found, filter))
            \(Parts.next(older))
            \(ConsoleFile.follow.module)
            """
        )
    }

    private func page(_ request: PageRequest, _ body: Markup) -> Page {
        var page = self.console.page("Logs", request, body)
        page.tool = .logs
        return page
    }

    private static let absence: Markup = """
        <p class="empty">The server writes its log to standard error alone, where the console cannot read it.
        Start it with a file, which keeps a bounded number of lines:
        <code>tidemark serve --set log_file=/var/log/tidemark/server.log</code>. Under systemd the console reads the
        journal by itself.</p>
        """

    // MARK: Parts

    private func form(_ filter: LogFilter) -> Markup {
        let levels = LogEntry.Level.allCases.map {
            Parts.option($0.rawValue, "\($0.rawValue) and above", isSelected: $0 == filter.level)
        }
        return """
            <form class="query" method="get" action="/logs" role="search">
            <div class="fields">
            <label>Level <select name="level"><option value="">all lines</option>\(levels)</select></label>
            <label>Text <input name="text" data-filter value="\(filter.text ?? "")" autocomplete="off" spellcheck="false"></label>
            <label>User <input name="user" value="\(filter.user ?? "")" autocomplete="off" spellcheck="false"></label>
            <label>ID of a request <input name="request" value="\(filter.request ?? "")" autocomplete="off" spellcheck="false"></label>
            </div>
            <p class="actions"><button type="submit">Filter</button> <a href="/logs/codes">Error codes</a></p>
            </form>
            """
    }

    private func follow(_ filter: LogFilter, from position: String) -> Markup {
        let url = PageURL("/logs/events", filter.items).adding("from", position)
        return """
            <div class="follow script" data-log-events="\(url)">
            <button type="button" data-pause>Pause</button>
            <p class="live" data-live-state role="status">Following.</p>
            </div>
            """
    }

    private static func newest(_ filter: LogFilter) -> Markup {
        "<p><a href=\"\(PageURL("/logs", filter.items))\">The newest lines</a></p>"
    }

    private func table(_ page: LogPage, _ filter: LogFilter) -> Markup {
        let rows = page.entries.map { entry -> Markup in
            let level: Markup = entry.level.map { "<span class=\"level\">\($0.rawValue)</span>" } ?? ""
            let pairs = entry.pairs.map { self.pair($0) }
            let details: Markup = pairs.isEmpty ? "" : "<ul class=\"pairs\">\(pairs)</ul>"
            return """
                <tr class="level-\(entry.level?.rawValue ?? "none")"><th scope="row">\(Self.time(entry.time))</th>\
                <td data-label="Level">\(level)</td>\
                <td data-label="Event">\(Shown.cut(entry.message, to: Self.messageBytesMax))</td>\
                <td data-label="Details">\(details)</td></tr>

                """
        }
        let empty: Markup =
            rows.isEmpty
            ? page.older == nil
                ? "<p class=\"empty\">No line fits.</p>"
                : "<p class=\"empty\">No line of those that were looked at fits. The next page looks further back.</p>"
            : ""
        return """
            <div class="scroll" tabindex="0" id="lines">
            <table>
            <caption>Lines, the newest first</caption>
            <thead><tr><th scope="col">Time, UTC</th><th scope="col">Level</th><th scope="col">Event</th><th scope="col">Details</th></tr></thead>
            <tbody>
            \(rows)
            </tbody>
            </table>
            </div>
            \(empty)
            """
    }

    private func pair(_ pair: LogEntry.Pair) -> Markup {
        let value = Shown.cut(pair.value, to: Self.valueBytesMax)
        guard let url = Self.url(of: pair) else {
            return "<li><b>\(Shown.cut(pair.key, to: 64))</b> \(value)</li>"
        }
        return "<li><b>\(pair.key)</b> <a href=\"\(url)\">\(value)</a></li>"
    }

    /// The link of a value: to the lines that have it too, or to the meaning of a code.
    private static func url(of pair: LogEntry.Pair) -> PageURL? {
        guard pair.value.utf8.count <= Self.valueBytesMax else { return nil }
        switch pair.key {
        case "user", "request": return PageURL("/logs", [PageURL.Item(pair.key, pair.value)])
        case "code": return CodeMeaning.url(of: pair.value)
        default: return nil
        }
    }

    /// As the line has it, without the letters that programs need.
    private static func time(_ text: String) -> Markup {
        guard !text.isEmpty else { return "<span class=\"hint\">no time</span>" }
        let people = self.people(text)
        return "<time datetime=\"\(text)\">\(people)</time>"
    }

    private static func people(_ time: String) -> String {
        time.utf8.count <= 40 ? String(time.map { $0 == "T" ? " " : $0 }.prefix { $0 != "Z" }) : ""
    }

    // MARK: Events

    /// Lines as they come, as server-sent events.
    func events(_ request: PageRequest) async throws -> Response {
        let filter = LogFilter(request.query)
        guard let source = self.console.configuration.log().source else {
            throw PageFailure.missing("The server has no log that the console can read.")
        }
        let start = request.lastEventID ?? request.query["from"] ?? ""
        // An invalid position fails the request at once, with a status.
        let first = try await self.console.blocking { try source.news(after: start, filter) }
        let interval = self.console.configuration.changesInterval
        return EventStream.response { writer in
            var news = first
            var position = start
            var silence = EventSilence()
            while !Task.isShuttingDownGracefully {
                if !news.entries.isEmpty {
                    silence.end()
                    try await writer.write(EventStream.event(id: news.end, Self.event(news.entries)))
                } else if let line = silence.passed(interval) {
                    try await writer.write(line)
                }
                // More may be waiting.
                let isBehind = news.end != position
                position = news.end
                if !isBehind { try await Task.sleep(for: interval) }
                let behind = position
                guard let next = try? await self.console.blocking({ try source.news(after: behind, filter) })
                else { return }
                news = next
            }
        }
    }

    private static func event(_ entries: [LogEntry]) -> [UInt8] {
        var output = JSONOutput()
        output.object { output in
            output.name("entries")
            output.array(entries) { output, entry in
                output.object { output in
                    output.member("time", self.people(entry.time))
                    output.member("level", entry.level?.rawValue ?? "none")
                    output.member("message", Shown.plain(entry.message, bytes: self.messageBytesMax))
                    output.name("pairs")
                    output.array(entry.pairs) { output, pair in
                        let texts = [pair.key, pair.value].map { Shown.plain($0, bytes: self.valueBytesMax) }
                        let url = self.url(of: pair).map { [$0.text] } ?? []
                        output.array(texts + url) { output, text in output.string(text) }
                    }
                }
            }
        }
        return output.text
    }
}

extension Shown {
    /// The beginning of a text for the script, with characters that hide as their numbers.
    static func plain(_ text: String, bytes: Int) -> String {
        let start = self.beginning(of: text, bytes: bytes)
        var plain = ""
        for scalar in start.unicodeScalars {
            if self.isHidden(scalar) {
                plain += "[U+" + String(scalar.value, radix: 16, uppercase: true) + "]"
            } else {
                plain.unicodeScalars.append(scalar)
            }
        }
        return start.utf8.count < text.utf8.count ? plain + "…" : plain
    }
}
