import RecordModel

/// Reads records of a table in CSV (`RecordTable`); the first line names the columns.
package struct CSVRecordReader: DraftReader {
    /// The meaning of a column.
    private enum Role: Hashable {
        case recordName
        case recordType
        case changeTag
        case field(RecordTable.Column)
    }

    private struct Cell {
        var text: [UInt8] = []
        var isQuoted = false
        var position: TextPosition
    }

    private var input: TextInput
    /// The type of records without a column `recordType`.
    private let recordType: String?
    private var roles: [Role] = []

    /// - Throws: `RecordJSONError` for an error in the first line, and file errors.
    package init(_ input: TextInput, recordType: String?) throws {
        self.input = input
        self.recordType = recordType
        try self.readHeader()
    }

    package var bytesTaken: Int64 { self.input.bytesTaken }

    package mutating func next() throws -> RecordDraft? {
        while let cells = try self.row() {
            // An empty line is no record.
            if cells.count == 1, cells[0].text.isEmpty, !cells[0].isQuoted { continue }
            return try self.record(cells)
        }
        return nil
    }

    // MARK: Meaning

    private mutating func readHeader() throws {
        let start = TextPosition(line: 1, column: 1)
        guard let cells = try self.row() else {
            throw RecordJSONError(.missing(name: RecordTable.nameTitle), at: start)
        }
        var titles: Set<String> = []
        for cell in cells {
            let title = try Self.text(cell)
            let name = String(title.prefix { $0 != ":" })
            guard titles.insert(name).inserted else {
                throw RecordJSONError(.duplicate(name: name), at: cell.position)
            }
            self.roles.append(try Self.role(title, name, at: cell.position))
            guard self.roles.count <= Bounds.fieldsMax + 3 else {
                throw RecordJSONError(.tooManyFields, at: cell.position)
            }
        }
        guard self.roles.contains(.recordName) else {
            throw RecordJSONError(.missing(name: RecordTable.nameTitle), at: start)
        }
        guard self.recordType != nil || self.roles.contains(.recordType) else {
            throw RecordJSONError(.missing(name: RecordTable.typeTitle), at: start)
        }
    }

    private static func role(
        _ title: String,
        _ name: String,
        at position: TextPosition
    ) throws(RecordJSONError) -> Role {
        switch title {
        case RecordTable.nameTitle: return .recordName
        case RecordTable.typeTitle: return .recordType
        case RecordTable.tagTitle: return .changeTag
        default: break
        }
        guard NameRules.isIdentifier(name.utf8) else {
            throw RecordJSONError(.unknown(name: title), at: position)
        }
        guard title != name else { return .field(RecordTable.Column(field: name, type: .string)) }
        let typeName = String(title.dropFirst(name.count + 1))
        guard let type = FieldType(jsonName: typeName), type != .clear else {
            throw RecordJSONError(.unknownType(typeName), at: position, field: name)
        }
        return .field(RecordTable.Column(field: name, type: type))
    }

    private func record(_ cells: [Cell]) throws(RecordJSONError) -> RecordDraft {
        guard let first = cells.first, cells.count <= self.roles.count else {
            throw RecordJSONError(.tooManyColumns(cells.count), at: cells[self.roles.count].position)
        }
        // A truncated last row would be read as another record.
        guard cells.count == self.roles.count else {
            throw RecordJSONError(.tooFewColumns(cells.count, of: self.roles.count), at: first.position)
        }
        var name: String?
        var type = self.recordType
        var changeTag: String?
        var fields: [Field] = []
        var positions: [String: TextPosition] = [:]
        for (role, cell) in zip(self.roles, cells) {
            guard !cell.text.isEmpty || cell.isQuoted else { continue }
            let text = try Self.text(cell)
            switch role {
            case .recordName: name = text
            case .recordType: type = text
            case .changeTag: changeTag = text
            case .field(let column):
                let value = try RecordTable.value(text, of: column, at: cell.position)
                fields.append(Field(name: column.field, value: value))
                positions[column.field] = cell.position
            }
        }
        guard let name else {
            throw RecordJSONError(.missing(name: RecordTable.nameTitle), at: first.position)
        }
        guard let type else {
            throw RecordJSONError(.missing(name: RecordTable.typeTitle), at: first.position)
        }
        return RecordDraft(
            recordName: name,
            recordType: type,
            changeTag: changeTag,
            changes: try FieldReading.checked(fields, positions: positions, at: first.position),
            position: first.position
        )
    }

    private static func text(_ cell: Cell) throws(RecordJSONError) -> String {
        guard let text = String(validating: cell.text, as: UTF8.self) else {
            throw RecordJSONError(.notUTF8, at: cell.position)
        }
        return text
    }

    // MARK: Rows

    /// The cells of the next row; `nil` at the end.
    private mutating func row() throws -> [Cell]? {
        try self.input.skipByteOrderMark()
        guard try self.input.peek() != nil else { return nil }
        let position = self.input.position
        var cells: [Cell] = []
        var bytesLeft = JSONRecordReader.recordBytesMax
        while true {
            var cell = Cell(position: self.input.position)
            let isLast = try self.read(&cell, &bytesLeft, from: position)
            cells.append(cell)
            if isLast { return cells }
        }
    }

    /// Reads a cell, and returns whether it ends its row.
    private mutating func read(
        _ cell: inout Cell,
        _ bytesLeft: inout Int,
        from row: TextPosition
    ) throws -> Bool {
        while let byte = try self.input.next() {
            bytesLeft -= 1
            guard bytesLeft > 0 else {
                throw RecordJSONError(.tooLarge(bytesMax: JSONRecordReader.recordBytesMax), at: row)
            }
            switch byte {
            case UInt8(ascii: "\"") where cell.text.isEmpty && !cell.isQuoted:
                cell.isQuoted = true
                try self.readQuoted(&cell, &bytesLeft, from: row)
            case UInt8(ascii: ","): return false
            case UInt8(ascii: "\n"): return true
            case UInt8(ascii: "\r"):
                if try self.input.peek() == UInt8(ascii: "\n") { _ = try self.input.next() }
                return true
            case _ where cell.isQuoted:
                throw RecordJSONError(
                    .syntax(expected: "a comma behind the closing quote"),
                    at: self.input.position
                )
            default: cell.text.append(byte)
            }
        }
        return true
    }

    /// Reads up to the quote that closes the cell.
    private mutating func readQuoted(
        _ cell: inout Cell,
        _ bytesLeft: inout Int,
        from row: TextPosition
    ) throws {
        while let byte = try self.input.next() {
            bytesLeft -= 1
            guard bytesLeft > 0 else {
                throw RecordJSONError(.tooLarge(bytesMax: JSONRecordReader.recordBytesMax), at: row)
            }
            guard byte == UInt8(ascii: "\"") else {
                cell.text.append(byte)
                continue
            }
            guard try self.input.peek() == UInt8(ascii: "\"") else { return }
            _ = try self.input.next()
            cell.text.append(byte)
        }
        throw RecordJSONError(.unfinished, at: cell.position)
    }
}
