import GRDBSQLite
import RecordModel
import StorageContract

/// Numbers for names that repeat in every record, and record types, cached until another process
/// writes.
final class WriterNames: RowNames {
    private struct TypeName: Hashable {
        let environment: EnvironmentID
        let name: String
    }

    private var typeNumbers: [TypeName: Int64] = [:]
    private var typeNames: [Int64: String] = [:]
    private var types: [TypeName: StoredType] = [:]
    private var authorNumbers: [String: Int64] = [:]
    private var authorNames: [Int64: String] = [:]
    /// The last type and author used: most requests name one of each.
    private var lastType: (name: TypeName, type: StoredType)?
    private var lastTypeNumber: (name: TypeName, number: Int64)?
    private var lastAuthorNumber: (name: String, number: Int64)?
    private var lastTypeName: (number: Int64, name: String)?
    private var lastAuthorName: (number: Int64, name: String)?
    private let statements: NameStatements
    private let tables: TableStatements

    init(_ connection: OpaquePointer, tables: TableStatements) throws(StorageFailure) {
        self.statements = try NameStatements(connection)
        self.tables = tables
    }

    var count: Int {
        self.typeNumbers.count + self.types.count + self.authorNumbers.count + self.authorNames.count
    }

    func forget() {
        self.typeNumbers.removeAll()
        self.typeNames.removeAll()
        self.authorNumbers.removeAll()
        self.authorNames.removeAll()
        self.lastTypeNumber = nil
        self.lastAuthorNumber = nil
        self.lastTypeName = nil
        self.lastAuthorName = nil
        self.forgetTypes()
    }

    /// Forgets the definitions of record types; their numbers stay.
    func forgetTypes() {
        self.types.removeAll(keepingCapacity: true)
        self.lastType = nil
    }

    func types(
        named names: [String],
        in environment: EnvironmentID
    ) throws(StorageFailure) -> [StoredType?] {
        var types: [StoredType?] = []
        types.reserveCapacity(names.count)
        for name in names { types.append(try self.type(named: name, in: environment)) }
        return types
    }

    private func type(
        named name: String,
        in environment: EnvironmentID
    ) throws(StorageFailure) -> StoredType? {
        let key = TypeName(environment: environment, name: name)
        if let last = self.lastType, last.name == key { return last.type }
        if let known = self.types[key] {
            self.lastType = (key, known)
            return known
        }
        guard let type = try StoredType.types(named: [name], in: environment, from: self.tables)[0] else {
            return nil
        }
        self.types[key] = type
        self.lastType = (key, type)
        return type
    }

    /// The number of a type's name, whether the schema has the type or not.
    func number(ofType type: String, in environment: EnvironmentID) throws(StorageFailure) -> Int64 {
        let key = TypeName(environment: environment, name: type)
        if let known = try self.knownNumber(of: key) { return known }
        self.statements.insertType.bind(1, environment.rawValue)
        self.statements.insertType.bind(2, type)
        try self.statements.insertType.run()
        guard let number = try self.knownNumber(of: key) else { throw .unexpected(code: SQLITE_NOTFOUND) }
        return number
    }

    private func knownNumber(of key: TypeName) throws(StorageFailure) -> Int64? {
        if let last = self.lastTypeNumber, last.name == key { return last.number }
        if let known = self.typeNumbers[key] {
            self.lastTypeNumber = (key, known)
            return known
        }
        let statement = self.statements.typeNumber
        statement.bind(1, key.environment.rawValue)
        statement.bind(2, key.name)
        guard try statement.step() else { return nil }
        let number = statement.integer(0)
        statement.reset()
        self.typeNumbers[key] = number
        return number
    }

    func typeName(_ number: Int64) throws(StorageFailure) -> String {
        if let last = self.lastTypeName, last.number == number { return last.name }
        if let known = self.typeNames[number] {
            self.lastTypeName = (number, known)
            return known
        }
        let name = try self.statements.name(self.statements.typeName, number: number)
        self.typeNames[number] = name
        return name
    }

    func number(ofAuthor recordName: String) throws(StorageFailure) -> Int64 {
        if let last = self.lastAuthorNumber, last.name == recordName { return last.number }
        if let known = self.authorNumbers[recordName] {
            self.lastAuthorNumber = (recordName, known)
            return known
        }
        self.statements.insertAuthor.bind(1, recordName)
        try self.statements.insertAuthor.run()
        let statement = self.statements.authorNumber
        statement.bind(1, recordName)
        guard try statement.step() else { throw .unexpected(code: SQLITE_NOTFOUND) }
        let number = statement.integer(0)
        statement.reset()
        self.authorNumbers[recordName] = number
        return number
    }

    func authorName(_ number: Int64) throws(StorageFailure) -> String {
        if let last = self.lastAuthorName, last.number == number { return last.name }
        if let known = self.authorNames[number] {
            self.lastAuthorName = (number, known)
            return known
        }
        let name = try self.statements.name(self.statements.authorName, number: number)
        self.authorNames[number] = name
        return name
    }
}
