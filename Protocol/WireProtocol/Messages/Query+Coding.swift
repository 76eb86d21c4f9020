package import NIOCore
package import RecordModel

extension QueryRecords {
    init(_ message: consuming MessageReader) throws(WireError) {
        var scope: UInt32 = 0
        var query: Query?
        var zone: ZoneID?
        var cursor: [UInt8] = []
        var keys: [String]?
        var limit: UInt32 = 0
        var isCount = false
        while let tag = try message.tag() {
            switch tag {
            case 0x08: scope = try message.uint32()
            case 0x12: query = try Query(bounded: message.message())
            case 0x1A: zone = try ZoneID(message.message())
            case 0x22: cursor = try message.bytes()
            case 0x2A: keys = (keys ?? []) + (try [String](desiredKeys: message.message()))
            case 0x30: limit = try message.uint32()
            case 0x38: isCount = try message.varint() != 0
            default: try message.skip(tag)
            }
        }
        let start: Start
        switch (query, cursor.isEmpty) {
        case (let query?, true): start = .query(query, zone: zone)
        case (nil, false) where zone == nil: start = .cursor(cursor)
        default: throw WireError(.refused(.invalidArguments), field: "query")
        }
        self.init(
            scope: try DatabaseScope(number: scope),
            start: start,
            desiredKeys: keys,
            limit: limit,
            isCount: isCount
        )
    }

    func encode(into buffer: inout ByteBuffer) {
        buffer.writeField(1, self.scope.number)
        switch self.start {
        case .query(let query, let zone):
            buffer.writeMessage(2) { query.encode(into: &$0) }
            if let zone { buffer.writeMessage(3) { zone.encode(into: &$0) } }
        case .cursor(let cursor):
            buffer.writeField(4, cursor)
        }
        buffer.writeDesiredKeys(5, self.desiredKeys)
        buffer.writeField(6, self.limit)
        buffer.writeField(7, self.isCount)
    }
}

extension Query {
    /// Reads a query that stands alone: in a cursor, say.
    package init(decoding payload: ByteBuffer) throws(WireError) {
        self = try payload.reading("query") { message throws(WireError) in
            try Query(bounded: message)
        }
    }

    package func encoded() -> ByteBuffer {
        var buffer = ByteBuffer()
        self.encode(into: &buffer)
        return buffer
    }

    init(bounded message: consuming MessageReader) throws(WireError) {
        guard message.count <= Bounds.queryBytesMax else {
            throw WireError(.refused(.limitExceeded), field: "query")
        }
        self.init(recordType: "")
        while let tag = try message.tag() {
            switch tag {
            case 0x0A: self.recordType = try message.text()
            case 0x12: self.predicate = try Predicate(bounded: message.message())
            case 0x1A: self.sort.append(try SortKey(message.message()))
            default: try message.skip(tag)
            }
        }
        guard self.sort.count <= Bounds.sortKeysMax else {
            throw WireError(.refused(.limitExceeded), field: "sort")
        }
    }

    func encode(into buffer: inout ByteBuffer) {
        buffer.writeField(1, self.recordType)
        if self.predicate != .all { buffer.writeMessage(2) { self.predicate.encode(into: &$0) } }
        for key in self.sort { buffer.writeMessage(3) { key.encode(into: &$0) } }
    }
}

/// What a predicate has cost so far: its bounds hold for the whole tree.
private struct PredicateSize {
    private var comparisons = 0
    private var elements = 0

    mutating func add(_ operand: FieldValue) throws(WireError) {
        self.comparisons += 1
        self.elements += operand.elementCount
        guard self.comparisons <= Bounds.comparisonsMax, self.elements <= Bounds.operandElementsMax else {
            throw WireError(.refused(.limitExceeded), field: "predicate")
        }
    }
}

extension FieldValue {
    /// Elements of a list; 0 for what is none.
    package var elementCount: Int {
        switch self {
        case .string, .int64, .double, .timestamp, .bytes, .location, .reference, .asset, .emptyList, .clear:
            0
        case .stringList(let elements): elements.count
        case .int64List(let elements): elements.count
        case .doubleList(let elements), .timestampList(let elements): elements.count
        case .bytesList(let elements): elements.count
        case .locationList(let elements): elements.count
        case .referenceList(let elements): elements.count
        case .assetList(let elements): elements.count
        }
    }
}

extension Predicate {
    init(bounded message: consuming MessageReader) throws(WireError) {
        var size = PredicateSize()
        try self.init(message, depth: 1, size: &size)
    }

    private init(
        _ message: consuming MessageReader,
        depth: Int,
        size: inout PredicateSize
    ) throws(WireError) {
        guard depth <= Bounds.predicateDepthMax else {
            throw WireError(.refused(.limitExceeded), field: "predicate")
        }
        var kind: Predicate?
        while let tag = try message.tag() {
            switch tag {
            case 0x08:
                if try message.varint() != 0 { kind = .all }
            case 0x10:
                if try message.varint() != 0 { kind = .nothing }
            case 0x1A: kind = .comparison(try Comparison(message.message(), size: &size))
            case 0x22: kind = .and(try Self.parts(message.message(), depth: depth, size: &size))
            case 0x2A: kind = .or(try Self.parts(message.message(), depth: depth, size: &size))
            default: try message.skip(tag)
            }
        }
        guard let kind else { throw WireError(.refused(.invalidArguments), field: "predicate") }
        self = kind
    }

    /// Parts count like levels: a part takes two bytes at least, and becomes more.
    private static func parts(
        _ message: consuming MessageReader,
        depth: Int,
        size: inout PredicateSize
    ) throws(WireError) -> [Predicate] {
        var parts: [Predicate] = []
        while let tag = try message.tag() {
            switch tag {
            case 0x0A:
                guard parts.count < Bounds.comparisonsMax else {
                    throw WireError(.refused(.limitExceeded), field: "predicate")
                }
                parts.append(try Predicate(message.message(), depth: depth + 1, size: &size))
            default: try message.skip(tag)
            }
        }
        return parts
    }

    func encode(into buffer: inout ByteBuffer) {
        switch self {
        case .all: buffer.writeField(1, true)
        case .nothing: buffer.writeField(2, true)
        case .comparison(let comparison): buffer.writeMessage(3) { comparison.encode(into: &$0) }
        case .and(let parts): buffer.writeMessage(4) { Self.encode(parts, into: &$0) }
        case .or(let parts): buffer.writeMessage(5) { Self.encode(parts, into: &$0) }
        }
    }

    private static func encode(_ parts: [Predicate], into buffer: inout ByteBuffer) {
        for part in parts { buffer.writeMessage(1) { part.encode(into: &$0) } }
    }
}

extension Comparison {
    fileprivate init(
        _ message: consuming MessageReader,
        size: inout PredicateSize
    ) throws(WireError) {
        var comparator: UInt32 = 0
        var operand: [UInt8] = []
        var distanceMetres = 0.0
        while let tag = try message.tag() {
            switch tag {
            case 0x08: comparator = try message.uint32()
            case 0x12: operand = try message.bytes()
            case 0x19: distanceMetres = try message.double()
            default: try message.skip(tag)
            }
        }
        guard let comparator = UInt8(exactly: comparator).flatMap(Comparator.init(rawValue:)) else {
            throw WireError(.refused(.invalidArguments), field: "comparator")
        }
        guard distanceMetres.isFinite, distanceMetres >= 0 else {
            throw WireError(.refused(.invalidArguments), field: "distance_m")
        }
        let field: Field
        do throws(BodyError) {
            field = try Field(checkingOperand: operand)
        } catch {
            throw WireError(.refused(.invalidArguments), field: "operand")
        }
        try size.add(field.value)
        self.init(
            field: field.name,
            comparator: comparator,
            operand: field.value,
            distanceMetres: distanceMetres
        )
    }

    fileprivate func encode(into buffer: inout ByteBuffer) {
        buffer.writeField(1, UInt32(self.comparator.rawValue))
        buffer.writeField(2, RecordBody([Field(name: self.field, value: self.operand)]).bytes)
        buffer.writeField(3, self.distanceMetres)
    }
}

extension SortKey {
    init(_ message: consuming MessageReader) throws(WireError) {
        self.init(field: "")
        while let tag = try message.tag() {
            switch tag {
            case 0x0A: self.field = try message.text()
            case 0x10: self.isAscending = try message.varint() == 0
            case 0x1A: self.origin = try Location(message.message())
            default: try message.skip(tag)
            }
        }
        if let origin, !origin.isOnEarth { throw WireError(.refused(.invalidArguments), field: "origin") }
    }

    func encode(into buffer: inout ByteBuffer) {
        buffer.writeField(1, self.field)
        buffer.writeField(2, !self.isAscending)
        guard let origin else { return }
        buffer.writeMessage(3) {
            $0.writeField(1, origin.latitude)
            $0.writeField(2, origin.longitude)
        }
    }
}

extension Location {
    /// A place to measure from: of its eight numbers two count.
    fileprivate init(_ message: consuming MessageReader) throws(WireError) {
        self.init(latitude: 0, longitude: 0)
        while let tag = try message.tag() {
            switch tag {
            case 0x09: self.latitude = try message.double()
            case 0x11: self.longitude = try message.double()
            default: try message.skip(tag)
            }
        }
    }

    /// False for what is not a number, too.
    fileprivate var isOnEarth: Bool { abs(self.latitude) <= 90 && abs(self.longitude) <= 180 }
}

extension CheckSchema {
    init(_ message: consuming MessageReader) throws(WireError) {
        self.init(schema: "")
        while let tag = try message.tag() {
            switch tag {
            case 0x0A: self.schema = try message.text()
            default: try message.skip(tag)
            }
        }
        guard self.schema.utf8.count <= Bounds.schemaBytesMax else {
            throw WireError(.refused(.limitExceeded), field: "schema")
        }
    }

    func encode(into buffer: inout ByteBuffer) {
        buffer.writeField(1, self.schema)
    }
}
