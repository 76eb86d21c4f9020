/// A word of the CloudKit Schema Language.
struct SchemaToken: Hashable {
    enum Kind: Hashable {
        /// A name or a keyword: which of them, the place decides.
        case word(String)
        /// A name for certain; without its quotes.
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
        case .word(let word): SchemaError.shown(word)
        case .quoted(let name): "\"" + SchemaError.shown(name) + "\""
        case .mark(let byte): "\"" + String(UnicodeScalar(byte)) + "\""
        case .end: "the end of the text"
        }
    }

    /// Whether it is a keyword, in whatever case.
    func isKeyword(_ keyword: SchemaKeyword) -> Bool {
        guard case .word(let word) = self.kind else { return false }
        return SchemaKeyword(word) == keyword
    }
}

/// The keywords of the language; raw values are their canonical spelling.
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

    init?(_ word: String) {
        // The longest keyword; what is longer need not be changed to upper case.
        guard word.utf8.count <= 10 else { return nil }
        self.init(rawValue: word.uppercased())
    }
}
