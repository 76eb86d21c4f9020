import Hummingbird
import NIOCore
import RecordModel
import RecordStore

/// Records of a file that are brought into a database: first a dry run, then the import.
///
///     begin ─┬─(pasted)───────────────► take: dry run, report by line ─► commit
///            └─(a file: takeFile) ────►
struct ImportPages: Sendable {
    let console: ConsolePages

    // MARK: The form

    func begin(_ request: PageRequest) async throws -> Page {
        let place = try Place(request)
        var body = try await self.console.recordsHead(place, request, current: "import")
        if self.console.configuration.importRecords == nil {
            body += "<p class=\"empty\">The console only reads.</p>"
        } else if place.user == nil {
            body += "<p class=\"empty\">A record has a creator and a modifier: choose a user.</p>"
        } else {
            body += self.form(ImportForm(request.query), place, request)
        }
        return self.page("Import", request, place, body)
    }

    private func form(_ form: ImportForm, _ place: Place, _ request: PageRequest) -> Markup {
        let policies = RecordImport.Policy.allCases.map {
            Parts.option($0.rawValue, $0.title, isSelected: $0 == form.policy)
        }
        let zones: Markup =
            place.scope == .private
            ? "<label class=\"check\"><input type=\"checkbox\" name=\"zones\" value=\"yes\"> Create zones that are not there</label>"
            : ""
        return """
            <form class="query" method="post" action="\(place.url(.records, "/import"))" data-upload="\(place.url(.records, "/import/file"))" data-upload-bytes-max="\(Uploads.fileBytesMax)" aria-label="Import">
            \(Parts.hidden("secret", request.session.formSecret))
            <input type="hidden" name="upload" value="">
            <label>Format
            <select name="format">
            \(Parts.option("json", "JSON lines", isSelected: !form.isCSV))
            \(Parts.option("csv", "CSV", isSelected: form.isCSV))
            </select>
            </label>
            <label>With CSV: the record type
            <input name="type" value="\(form.type ?? "")" autocomplete="off" spellcheck="false">
            </label>
            <label>A zone for all records
            <input name="zone" value="\(form.zone ?? "")" placeholder="those of the file" autocomplete="off" spellcheck="false">
            </label>
            \(self.console.ownerField(place, request))
            <label>Records that differ
            <select name="policy">\(policies)</select>
            </label>
            \(zones)
            <label class="wide script">A file of up to \(Shown.bytes(Uploads.fileBytesMax))
            <input type="file" accept=".jsonl,.json,.csv">
            </label>
            <p class="script" data-upload-state role="status"></p>
            <label class="wide">or records, pasted
            <textarea name="records" rows="10" data-filter spellcheck="false"></textarea>
            </label>
            <p class="actions"><button type="submit">Dry run</button></p>
            </form>
            <p class="hint">A dry run reads everything, compares it with the schema and the records that are there, and writes nothing. \
            \(Self.limit) Files of assets are not taken: \
            <code>tidemark records import</code> brings them.</p>
            """
    }

    /// The limit of a dry run's knowledge.
    private static let limit = "It does not look for missing targets of references, rights and quotas."

    // MARK: What comes

    /// Takes a file, and responds with its name.
    func takeFile<Pieces: AsyncSequence>(_ pieces: Pieces, _ request: PageRequest) async throws -> Response
    where Pieces.Element == ByteBuffer {
        _ = try self.importer(try Place(request))
        let name = try await self.console.uploads.take(pieces)
        return Response(
            status: .ok,
            headers: [.contentType: "text/plain; charset=utf-8"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: name))
        )
    }

    /// The dry run of what was sent or pasted.
    func take(_ request: PageRequest) async throws -> Response {
        let place = try Place(request)
        let form = ImportForm(request.form)
        var upload = request.form["upload"]
        if upload == nil {
            guard let text = request.form["records"] else {
                throw PageFailure.invalid("There are no records: choose a file, or paste some.")
            }
            let (stream, continuation) = AsyncStream.makeStream(of: ByteBuffer.self)
            continuation.yield(ByteBuffer(string: text))
            continuation.finish()
            upload = try await self.console.uploads.take(stream)
        }
        let report = try await self.run(form, upload ?? "", place, isDryRun: true)
        let isEmpty = report.created + report.changed == 0
        let again: Markup =
            isEmpty
            ? "<p>There is nothing to write.</p>"
            : Changes.form(
                "Import",
                action: place.url(.records, "/import/commit"),
                request,
                place: place,
                "\(Parts.hidden("upload", upload))\(form.hiddenFields)"
            )
        let body: Markup = """
            <p>Nothing was written. In \(place.databaseText) an import would have these results:</p>
            \(self.numbers(report))
            <p class="hint">A dry run compares the file with the schema and the records that are there. \(Self.limit)</p>
            \(again)
            \(self.failures(report))
            """
        return ConsoleRouter.response(self.page("Dry run of the import", request, place, body))
    }

    func commit(_ request: PageRequest) async throws -> Response {
        let place = try Place(request)
        try Changes.checkConfirmed(request, place)
        let form = ImportForm(request.form)
        guard let upload = request.form["upload"] else {
            throw PageFailure.invalid("The form names no file: begin again.")
        }
        let changes = Changes(console: self.console)
        let what = "import a file of records into the \(place.scope.name) database as \(place.user ?? "")"
        _ = try self.importer(place)
        let ticket = try changes.begin(what, in: place, sentence: Changes.sentence(what, place))
        let report: RecordImportReport
        do throws(PageFailure) {
            report = try await self.run(form, upload, place, isDryRun: false)
        } catch {
            changes.end(ticket, .unknown, error.text)
            throw error
        }
        changes.end(ticket, .done)
        self.console.uploads.remove(upload)
        let body: Markup = """
            <p>\(report.refused > 0 ? "Records that were not refused are" : "The records are") in \(place.databaseText).</p>
            \(self.numbers(report))
            \(self.failures(report))
            <p class="screen"><a href="\(place.url(.records, "/snapshot").adding("zone", form.zone))">Show the zone</a></p>
            """
        return ConsoleRouter.response(self.page("Imported", request, place, body))
    }

    // MARK: Execution

    private func importer(
        _ place: Place
    ) throws(PageFailure) -> @Sendable (RecordImport) async -> RecordImportOutcome {
        guard let importer = self.console.configuration.importRecords else {
            throw .invalid("The console only reads.")
        }
        guard place.user != nil else { throw .invalid("A record has a modifier: choose a user first.") }
        return importer
    }

    private func run(
        _ form: ImportForm,
        _ upload: String,
        _ place: Place,
        isDryRun: Bool
    ) async throws(PageFailure) -> RecordImportReport {
        let importer = try self.importer(place)
        guard let path = self.console.uploads.path(of: upload) else {
            throw .missing("The file is not kept any more, because others came after it: send it again.")
        }
        let order = RecordImport(
            container: place.container,
            environment: place.environment,
            scope: place.scope,
            user: place.user ?? "",
            path: path,
            isCSV: form.isCSV,
            recordType: form.type,
            zone: form.zoneID,
            policy: form.policy,
            createsZones: form.createsZones,
            isDryRun: isDryRun
        )
        switch await importer(order) {
        case .finished(let report): return report
        case .failed(let text): throw PageFailure(.conflict, "Not imported", text)
        }
    }

    // MARK: Reports

    private func numbers(_ report: RecordImportReport) -> Markup {
        Parts.list([
            ("Created", "\(Shown.number(report.created))"), ("Changed", "\(Shown.number(report.changed))"),
            ("Unchanged", "\(Shown.number(report.unchanged))"),
            ("Refused", "\(Shown.number(report.refused))"),
            ("Left out: shares, user records, earlier lines", "\(Shown.number(report.skipped))"),
            ("Zones created", "\(Shown.number(report.zonesCreated))"),
        ])
    }

    private func failures(_ report: RecordImportReport) -> Markup {
        guard report.refused > 0 else { return "" }
        let rows = report.failures.prefix(ConsolePages.rowsMax).map { failure -> [Markup] in
            [
                failure.line.map { "\(Shown.number($0))" } ?? "–", Shown.text(failure.record),
                Shown.cut(failure.reason, to: 2_048),
            ]
        }
        let cut = rows.count < report.refused ? ", the first \(rows.count)" : ""
        let table = Parts.table(
            caption: "\(Shown.count(report.refused, "refused record"))\(cut)",
            columns: ["Line", "Record", "Why"],
            rows: Array(rows)
        )
        return Parts.section("Refused", id: "refused", table)
    }

    private func page(_ title: String, _ request: PageRequest, _ place: Place, _ body: Markup) -> Page {
        self.console.page(title, request, place: place, section: .records, body)
    }
}

/// The choices of an import.
struct ImportForm: Hashable, Sendable {
    var isCSV: Bool
    var type: String?
    var zone: String?
    var owner: String?
    var policy: RecordImport.Policy
    var createsZones: Bool

    init(_ items: FormItems) {
        self.isCSV = items["format"] == "csv"
        self.type = items["type"]
        self.zone = items["zone"]
        self.owner = items["owner"]
        self.policy = items["policy"].flatMap { RecordImport.Policy(rawValue: $0) } ?? .ifUnchanged
        self.createsZones = items["zones"] == "yes"
    }

    var zoneID: ZoneID? { self.zone.map { ZoneID(zoneName: $0, ownerName: self.owner ?? "") } }

    /// The same choices for the form that follows.
    var hiddenFields: Markup {
        Markup([
            Parts.hidden("format", self.isCSV ? "csv" : "json"), Parts.hidden("type", self.type),
            Parts.hidden("zone", self.zone), Parts.hidden("owner", self.owner),
            Parts.hidden("policy", self.policy.rawValue),
            Parts.hidden("zones", self.createsZones ? "yes" : nil),
        ])
    }
}

extension RecordImport.Policy {
    fileprivate var title: String {
        switch self {
        case .ifUnchanged: "are conflicts, unless the change tag is right"
        case .changedKeys: "take the fields of the file (changed-keys)"
        case .allKeys: "become those of the file (all-keys)"
        }
    }
}
