import HTTPTypes
import Hummingbird
import RecordJSON
import ServiceLifecycle

/// Backups of the folder, the last rehearsal of a restore, and another backup.
struct BackupPages: Sendable {
    private static let pathBytesMax = 4_096

    let console: ConsolePages

    func backups(_ request: PageRequest) async throws -> Page {
        guard let desk = self.console.configuration.backups else { return self.page(request, Self.absence) }
        let known = try await self.console.blocking { desk.list() }
        return self.page(
            request,
            """
            \(self.age(known))
            \(self.making(known, request))
            \(Parts.section("Backups", id: "known", self.table(known)))
            \(Parts.section("Rehearsals of a restore", id: "drills", self.drills(known)))
            """
        )
    }

    private func page(_ request: PageRequest, title: String = "Backups", _ body: Markup) -> Page {
        var page = self.console.page(title, request, body)
        page.tool = .backups
        return page
    }

    private static let absence: Markup = "<p class=\"empty\">This console knows nothing of backups.</p>"

    // MARK: Overview

    private func age(_ known: KnownBackups) -> Markup {
        let newest = known.backups.filter { $0.state == .complete }.compactMap(\.milliseconds).max()
        guard let newest else {
            return Parts.notice(
                "No complete backup of this folder is known. Backups that tidemark backup makes are noted from now on.",
                isError: true
            )
        }
        return Parts.list([
            ("Age of the newest", "\(self.ago(newest))"),
            ("Made at", "\(Shown.time(milliseconds: newest))"),
            (
                "Last rehearsal",
                known.drills.first.map { drill -> Markup in
                    drill.problems.isEmpty
                        ? "<span class=\"good\">passed</span>, \(self.ago(drill.milliseconds)) ago"
                        : "<strong class=\"error\">failed</strong>, \(self.ago(drill.milliseconds)) ago"
                } ?? "never"
            ),
        ])
    }

    /// An age in the largest unit that gives two or more.
    private func ago(_ milliseconds: Int64) -> String {
        let minutes = max(0, self.console.configuration.now() - milliseconds) / 60_000
        return switch minutes {
        case ..<120: Shown.count(minutes, "minute")
        case ..<2_880: Shown.count(minutes / 60, "hour")
        default: Shown.count(minutes / 1_440, "day")
        }
    }

    private func table(_ known: KnownBackups) -> Markup {
        Parts.table(
            caption: "\(Shown.count(known.backups.count, "backup")), the newest first",
            columns: ["Folder", "Kind", "State", "Of", "Age", "Size", "Assets", "Version"],
            rows: known.backups.prefix(ConsolePages.rowsMax).map { backup -> [Markup] in
                [
                    backup.path.isEmpty ? "through a pipe" : Shown.text(backup.path),
                    Self.text(backup.kind),
                    Self.text(backup.state),
                    backup.milliseconds.map { Shown.time(milliseconds: $0) } ?? "",
                    backup.milliseconds.map { "<span class=\"word\">\(self.ago($0))</span>" } ?? "",
                    Self.number(backup.bytes.map { Shown.bytes($0) }),
                    Self.number(backup.assets.map { Shown.number($0) }),
                    backup.server.map { Shown.cut($0) } ?? "",
                ]
            },
            empty: "None is known. Make one above, or with \(Parts.command("tidemark backup --to DIR"))."
        )
    }

    /// Nothing at all if it is not known: narrow screens leave out what is empty.
    private static func number(_ text: String?) -> Markup {
        text.map { text -> Markup in "<span class=\"number\">\(text)</span>" } ?? ""
    }

    private static func text(_ kind: KnownBackups.Kind) -> Markup {
        switch kind {
        case .folder: "<span class=\"word\">a copy</span>"
        case .continued: "<span class=\"word\">continued</span>"
        case .stream: "a stream"
        }
    }

    private static func text(_ state: KnownBackups.State) -> Markup {
        switch state {
        case .complete: "<span class=\"good\">complete</span>"
        case .lacking(let assets): "<strong class=\"error\">lacks \(Shown.count(assets, "asset"))</strong>"
        case .incomplete: "<strong class=\"error\">incomplete</strong>"
        case .missing: "<span class=\"hint\">not there now</span>"
        case .unreadable(let text): "<span class=\"error\">\(Shown.cut(text))</span>"
        }
    }

    private func drills(_ known: KnownBackups) -> Markup {
        Parts.table(
            caption: "The newest first",
            columns: ["Backup", "When", "Result", "Records", "Took"],
            rows: known.drills.prefix(ConsolePages.rowsMax).map { drill -> [Markup] in
                let problems = drill.problems.map { text -> Markup in
                    "<li>\(Shown.cut(text, to: 1_024))</li>"
                }
                let result: Markup =
                    drill.problems.isEmpty
                    ? "<span class=\"good\">passed</span>"
                    : "<strong class=\"error\">failed</strong><ul class=\"elements\">\(problems)</ul>"
                return [
                    Shown.text(drill.path), Shown.time(milliseconds: drill.milliseconds), result,
                    "<span class=\"number\">\(Shown.number(drill.records))</span>",
                    "\(Plot.Unit.seconds.text(drill.seconds.rounded(.up)))",
                ]
            },
            empty:
                "A backup that was never restored may be none. Rehearse it: \(Parts.command("tidemark backup --drill --from DIR"))"
        )
    }

    // MARK: Another one

    private func making(_ known: KnownBackups, _ request: PageRequest) -> Markup {
        if let obstacle = known.obstacle { return Parts.notice("\(obstacle)") }
        var last: Markup = ""
        switch self.console.backupJobs.state {
        case .idle: break
        case .running(let path, let done, let total): return self.progress(path, done, total)
        case .ended(let path, .made(let bytes, let assets)):
            last = Parts.notice(
                "The backup in \(Shown.text(path)) is complete: \(Shown.bytes(bytes)), \(Shown.count(assets, "asset"))."
            )
        case .ended(let path, .failed(let reason)):
            last = Parts.notice("There is no backup in \(Shown.text(path)): \(reason)", isError: true)
        }
        return """
            \(last)
            <form class="query" method="post" action="/backups">
            \(Parts.hidden("secret", request.session.formSecret))
            <label class="wide">Folder of the backup, new or empty, on another disk than the data
            <input name="path" required data-filter value="\(known.suggestedPath ?? "")" placeholder="/mnt/backups/2026-11-26" autocomplete="off" spellcheck="false"></label>
            \(self.question)
            <p class="actions"><button type="submit">Make a backup</button></p>
            </form>
            """
    }

    /// A served folder may be in use by many: copying it takes time of their disk.
    private var question: Markup {
        switch self.console.configuration.serverState() {
        case .serving:
            """
            <p><label class="check"><input type="checkbox" name="served" value="yes" required>
            Yes, copy the folder while the server serves it</label></p>
            """
        case .notServing: ""
        }
    }

    private func progress(_ path: String, _ done: Int64, _ total: Int64) -> Markup {
        let value: Markup = total > 0 ? " max=\"\(total)\" value=\"\(min(done, total))\"" : ""
        return """
            <div class="notice" data-backup-events="/backups/events">
            <p><label>A backup is being made in \(Shown.text(path))
            <progress\(value)></progress></label></p>
            <p data-live-state role="status">\(Self.text(done, total))</p>
            <p class="hint">It goes on while this page is closed, and ends with the console.
            <a href="/backups">Load the page again</a></p>
            </div>
            \(ConsoleFile.follow.module)
            """
    }

    private static func text(_ done: Int64, _ total: Int64) -> String {
        total == 0 ? "It begins." : "\(Shown.bytes(min(done, total))) of \(Shown.bytes(total))"
    }

    /// Begins a backup.
    func make(_ request: PageRequest) async throws -> Response {
        guard let desk = self.console.configuration.backups else {
            throw PageFailure.invalid("This console makes no backups.")
        }
        if case .serving = self.console.configuration.serverState(), request.form["served"] != "yes" {
            throw PageFailure.invalid("A folder that is served is copied only if the box says so.")
        }
        guard let path = request.form["path"], path.hasPrefix("/"), path.utf8.count <= Self.pathBytesMax,
            !path.utf8.contains(0)
        else {
            throw PageFailure.invalid(
                "Name the folder of the backup from the root on, such as /mnt/backups/2026-11-26."
            )
        }
        guard self.console.backupJobs.begin(path, desk) else {
            throw PageFailure(
                .conflict,
                "Not begun",
                "Another backup is being made. Wait until it is complete."
            )
        }
        return Response(status: .seeOther, headers: [.location: "/backups"])
    }

    /// The progress of a backup, as server-sent events, until it has ended.
    func events(_ request: PageRequest) async throws -> Response {
        let jobs = self.console.backupJobs
        let interval = self.console.configuration.changesInterval
        return EventStream.response { writer in
            var last: BackupJobs.State?
            var silence = EventSilence()
            while !Task.isShuttingDownGracefully {
                let state = jobs.state
                if state != last {
                    silence.end()
                    try await writer.write(EventStream.event(id: nil, Self.event(state)))
                } else if let line = silence.passed(interval) {
                    try await writer.write(line)
                }
                guard case .running = state else { return }
                last = state
                try await Task.sleep(for: interval)
            }
        }
    }

    private static func event(_ state: BackupJobs.State) -> [UInt8] {
        var output = JSONOutput()
        output.object { output in
            guard case .running(_, let done, let total) = state else {
                output.member("ended", literal: "true")
                return
            }
            output.member("done", literal: "\(done)")
            output.member("total", literal: "\(total)")
            output.member("text", self.text(done, total))
        }
        return output.text
    }
}
