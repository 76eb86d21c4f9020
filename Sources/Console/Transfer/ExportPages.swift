import HTTPTypes
import Hummingbird
import NIOCore
import RecordJSON
import RecordModel
import RecordStore
import StorageContract

/// Records as a file: all that a query finds, what changed in a zone, or a whole zone.
///
/// The file is sent while it is read, a page at a time, and nothing is cut. If a later page cannot be
/// read, the connection breaks before the end of the response, and a browser reports a failed
/// download. The text is that of `tidemark records export`.
struct ExportPages: Sendable {
    let console: ConsolePages

    /// Longer than for a page: a file should not break because the store is busy for a moment.
    private static let timeout = Duration.seconds(30)

    enum Format: String, Sendable {
        case json
        case csv

        var ending: String { self == .json ? "jsonl" : "csv" }

        var contentType: String { self == .json ? "application/x-ndjson" : "text/csv; charset=utf-8" }
    }

    // MARK: Links

    /// Links for a tab; its URL has the items that select the export.
    ///
    /// A table has the fields of one type: that of all records, or one to be chosen.
    static func links(
        from tab: String,
        types: [String],
        isOneType: Bool = false,
        _ place: Place,
        _ items: [PageURL.Item]
    ) -> Markup {
        let base = PageURL(place.url(.records, "/export").path, items).setting("from", tab)
        let json: Markup = "<a href=\"\(base.setting("format", "json"))\" download>JSON lines</a>"
        if isOneType, let type = types.first {
            let csv = base.setting("format", "csv").setting("type", type)
            return """
                <p class="pages">All of it as a file: \(json) <a href="\(csv)" download>CSV</a></p>
                """
        }
        let options = types.prefix(ConsolePages.rowsMax).map { Parts.option($0, $0, isSelected: false) }
        let kept = base.items.filter { !["format", "type"].contains($0.name) }
            .map { Parts.hidden($0.name, $0.value) }
        let table: Markup =
            options.isEmpty
            ? ""
            : """
            <form class="database" method="get" action="\(base.path)">
            \(kept)
            \(Parts.hidden("format", "csv"))
            <label>Records of one type as a table <select name="type">\(options)</select></label>
            <button type="submit">CSV</button>
            </form>
            """
        return "<p class=\"pages\">All of it as a file: \(json)</p>\(table)"
    }

    // MARK: The response

    func export(_ request: PageRequest) async throws -> Response {
        let place = try Place(request)
        let reader = try await self.console.reader(of: place).with(timeout: Self.timeout)
        guard let format = Format(rawValue: request.query["format"] ?? "json") else {
            throw PageFailure.invalid("A file is in the format json or csv.")
        }
        let schema = try await self.console.schema(of: place)
        let source = try self.source(request, schema)
        let form = try self.form(format, request, schema)
        // A failure of the first read is a page, and not a broken download.
        let first: ExportSource.Piece
        do throws(StoreError) {
            first = try await source.first(reader)
        } catch {
            throw PageFailure(error, doing: "The records cannot be exported")
        }
        return Response(
            status: .ok,
            headers: [
                .contentType: format.contentType,
                .contentDisposition:
                    "attachment; filename=\"\(Self.fileName(request, place)).\(format.ending)\"",
                .contentSecurityPolicy: ResponseFields.assetPolicy,
            ],
            body: ResponseBody { writer in
                var piece = first
                try await writer.write(ByteBuffer(bytes: form.head))
                while true {
                    let bytes = form.bytes(of: piece)
                    if !bytes.isEmpty { try await writer.write(ByteBuffer(bytes: bytes)) }
                    guard let next = try await piece.next(source, reader) else { break }
                    piece = next
                }
                try await writer.finish(nil)
            }
        )
    }

    private func source(_ request: PageRequest, _ schema: SchemaDocument) throws -> ExportSource {
        let zone = self.console.zone(request.query)
        switch request.query["from"] {
        case "query":
            guard let form = QueryForm(request.query) else {
                throw PageFailure.invalid("A query is about one record type.")
            }
            let query = try form.query(
                definition: schema[form.type],
                nowMilliseconds: self.console.configuration.now()
            )
            let keys = form.columns.isEmpty ? nil : form.columns
            return .query(QueryRead(query: query, zone: form.zone, desiredKeys: keys))
        case "changes":
            guard let text = request.query["token"] else {
                return .feed(FeedRead(zone: zone), withToken: true)
            }
            guard let token = TokenText.bytes(text) else {
                throw PageFailure.invalid("This is no token: paste what syncToken says.")
            }
            return .feed(FeedRead(zone: zone, token: token), withToken: true)
        case "snapshot":
            let order: FetchChanges.SnapshotOrder =
                request.query["order"] == "newest" ? .newestFirst : .creation
            return .feed(FeedRead(zone: zone, order: order), withToken: false)
        default: throw PageFailure.invalid("A file is exported from query, changes or snapshot.")
        }
    }

    private func form(
        _ format: Format,
        _ request: PageRequest,
        _ schema: SchemaDocument
    ) throws(PageFailure) -> ExportForm {
        guard format == .csv else { return .lines }
        guard let name = request.query["type"], let type = schema[name] else {
            throw .invalid("A table has the fields of one record type: choose it.")
        }
        var columns = RecordColumns.all(of: type)
        if let form = QueryForm(request.query), !form.columns.isEmpty {
            columns = columns.filter { form.columns.contains($0.field) }
        }
        return .table(RecordTable(columns: columns), type: name)
    }

    /// A name of letters and digits, whatever the zone and the type are called.
    private static func fileName(_ request: PageRequest, _ place: Place) -> String {
        let parts = [
            request.query["type"] ?? request.query["zone"] ?? ZoneID.defaultZoneName, place.environment.name,
        ]
        let letters = parts.joined(separator: "-").unicodeScalars.prefix(100).map { scalar -> Character in
            let isPlain =
                scalar.isASCII && (scalar.properties.isAlphabetic || ("0"..."9").contains(scalar))
                || scalar == "-" || scalar == "_"
            return isPlain ? Character(scalar) : "_"
        }
        return String(letters)
    }
}

/// The records of a file, a page at a time.
enum ExportSource: Sendable {
    case query(QueryRead)
    /// `withToken` says whether deletions come as well, and at the end the token behind it all.
    case feed(FeedRead, withToken: Bool)

    /// A page, and where the next one begins.
    struct Piece: Sendable {
        var records: [Record]
        var deletions: [DeletedRecord] = []
        /// `nil` if this is the last.
        var resume: [UInt8]?
        /// The token behind the last piece, if the file has it.
        var token: [UInt8]?

        func next(_ source: ExportSource, _ reader: DatabaseReader) async throws(StoreError) -> Piece? {
            guard let resume else { return nil }
            return try await source.piece(after: resume, reader)
        }
    }

    func first(_ reader: DatabaseReader) async throws(StoreError) -> Piece {
        try await self.piece(after: nil, reader)
    }

    fileprivate func piece(
        after resume: [UInt8]?,
        _ reader: DatabaseReader
    ) async throws(StoreError) -> Piece {
        switch self {
        case .query(var read):
            if let resume { read.resume = resume }
            read.limit = Bounds.queryPageMax
            let page = try await reader.page(read)
            return Piece(records: page.records, resume: page.end.resume)
        case .feed(var read, let withToken):
            if let resume { read.token = resume }
            let page = try await reader.changes(read)
            let token = page.end.token
            return Piece(
                records: page.items.records,
                deletions: withToken ? page.items.deletions : [],
                resume: page.end.moreComing ? token : nil,
                token: withToken && !page.end.moreComing ? token : nil
            )
        }
    }
}

/// The text of a file.
enum ExportForm: Sendable {
    case lines
    /// Records of one type; others are left out.
    case table(RecordTable, type: String)

    var head: [UInt8] {
        switch self {
        case .lines: []
        case .table(let table, _): table.header + [UInt8(ascii: "\n")]
        }
    }

    func bytes(of piece: ExportSource.Piece) -> [UInt8] {
        var bytes: [UInt8] = []
        func add(_ line: [UInt8]) {
            bytes += line
            bytes.append(UInt8(ascii: "\n"))
        }
        switch self {
        case .lines:
            for record in piece.records { add(RecordJSON.text(of: record)) }
            for deleted in piece.deletions { add(RecordJSON.text(of: deleted)) }
            guard let token = piece.token else { break }
            var output = JSONOutput()
            output.object { $0.member("syncToken", TokenText.text(token)) }
            add(output.text)
        case .table(let table, let type):
            for record in piece.records where record.recordType == type { add(table.line(of: record)) }
        }
        return bytes
    }
}
