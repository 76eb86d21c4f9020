/// A token of the CloudKit Schema Language.
struct SchemaToken: Hashable {
    enum Kind: Hashable {
        /// A name, or the keyword with the same spelling. The context decides which.
        case word(String, SchemaKeyword?)
        /// A name that was in quotes, without them.
        case quoted(String)
        /// One of `( ) , ; < >`.
        case mark(UInt8)
        case end
    }

    var kind: Kind
    var position: SchemaPosition

    /// The token as it stands in the text.
    var text: String {
        switch self.kind {
        case .word(let word, _): SchemaError.shown(word)
        case .quoted(let name): "\"" + SchemaError.shown(name) + "\""
        case .mark(let byte): "\"" + String(UnicodeScalar(byte)) + "\""
        case .end: "the end of the text"
        }
    }

    /// The keyword with this spelling, in any case.
    var keyword: SchemaKeyword? {
        guard case .word(_, let keyword) = self.kind else { return nil }
        return keyword
    }

    func isKeyword(_ keyword: SchemaKeyword) -> Bool {
        self.keyword == keyword
    }
}

/// The keywords of the language.
///
/// Raw values are their canonical spelling.
enum SchemaKeyword: String, CaseIterable {
    case define = "DEFINE"
    case schema = "SCHEMA"
    case create = "CREATE"
    case role = "ROLE"
    case record = "RECORD"
    case type = "TYPE"
    case grant = "GRANT"
    case read = "READ"
    case write = "WRITE"
    case to = "TO"
    case list = "LIST"
    case encrypted = "ENCRYPTED"
    case number = "NUMBER"
    case preferred = "PREFERRED"
    case `as` = "AS"
    case asset = "ASSET"
    case bytes = "BYTES"
    case double = "DOUBLE"
    case int64 = "INT64"
    case location = "LOCATION"
    case reference = "REFERENCE"
    case string = "STRING"
    case timestamp = "TIMESTAMP"
    case queryable = "QUERYABLE"
    case searchable = "SEARCHABLE"
    case sortable = "SORTABLE"

    /// Keywords that are names only within quotes.
    static let reserved: Set<SchemaKeyword> = [.grant, .preferred, .queryable, .sortable, .searchable]

    private static let bySpelling = Dictionary(uniqueKeysWithValues: Self.allCases.map { ($0.rawValue, $0) })

    init?(_ word: String) {
        // 10 is the longest keyword. Longer words need no conversion to upper case.
        guard word.utf8.count <= 10, let keyword = Self.bySpelling[word.uppercased()] else { return nil }
        self = keyword
    }
}
