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
        while let field = try message.next(Proto.QueryRecords.self) {
            switch field {
            case .scope: scope = try message.uint32()
            case .query: query = try Query(bounded: message.message())
            case .zone: zone = try ZoneID(message.message())
            case .cursor: cursor = try message.bytes()
            case .desiredKeys: keys = (keys ?? []) + (try [String](desiredKeys: message.message()))
            case .limit: limit = try message.uint32()
            case .count: isCount = try message.bool()
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
        buffer.writeField(Proto.QueryRecords.scope, self.scope.number)
        switch self.start {
        case .query(let query, let zone):
            buffer.writeMessage(Proto.QueryRecords.query) { query.encode(into: &$0) }
            if let zone { buffer.writeMessage(Proto.QueryRecords.zone) { zone.encode(into: &$0) } }
        case .cursor(let cursor):
            buffer.writeField(Proto.QueryRecords.cursor, cursor)
        }
        buffer.writeDesiredKeys(Proto.QueryRecords.desiredKeys, self.desiredKeys)
        buffer.writeField(Proto.QueryRecords.limit, self.limit)
        buffer.writeField(Proto.QueryRecords.count, self.isCount)
    }
}

extension Query {
    /// Reads a query outside a request, as in a cursor.
    package init(decoding payload: ByteBuffer) throws(WireError) {
        try self.init(bounded: MessageReader(payload, "query"))
    }

    package func encoded() -> ByteBuffer {
        var buffer = ByteBuffer.forMessage
        self.encode(into: &buffer)
        return buffer
    }

    init(bounded message: consuming MessageReader) throws(WireError) {
        guard message.range.count <= Bounds.queryBytesMax else {
            throw WireError(.refused(.limitExceeded), field: "query")
        }
        self.init(recordType: "")
        while let field = try message.next(Proto.Query.self) {
            switch field {
            case .recordType: self.recordType = try message.text()
            case .predicate: self.predicate = try Predicate(bounded: message.message())
            case .sort: self.sort.append(try SortKey(message.message()))
            }
        }
        guard self.sort.count <= Bounds.sortKeysMax else {
            throw WireError(.refused(.limitExceeded), field: "sort")
        }
    }

    func encode(into buffer: inout ByteBuffer) {
        buffer.writeField(Proto.Query.recordType, self.recordType)
        if self.predicate != .all {
            buffer.writeMessage(Proto.Query.predicate) { self.predicate.encode(into: &$0) }
        }
        for key in self.sort { buffer.writeMessage(Proto.Query.sort) { key.encode(into: &$0) } }
    }
}

/// The size of a predicate so far: its bounds apply to the whole tree.
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
    /// Number of elements of a list; 0 for other values.
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
        while let field = try message.next(Proto.Predicate.self) {
            switch field {
            case .all:
                if try message.bool() { kind = .all }
            case .nothing:
                if try message.bool() { kind = .nothing }
            case .comparison: kind = .comparison(try Comparison(message.message(), size: &size))
            case .and: kind = .and(try Self.parts(message.message(), depth: depth, size: &size))
            case .or: kind = .or(try Self.parts(message.message(), depth: depth, size: &size))
            }
        }
        guard let kind else { throw WireError(.refused(.invalidArguments), field: "predicate") }
        self = kind
    }

    /// Parts count like levels: a part takes at least two bytes, and more when decoded.
    private static func parts(
        _ message: consuming MessageReader,
        depth: Int,
        size: inout PredicateSize
    ) throws(WireError) -> [Predicate] {
        var parts: [Predicate] = []
        while let field = try message.next(Proto.Predicates.self) {
            switch field {
            case .parts:
                guard parts.count < Bounds.comparisonsMax else {
                    throw WireError(.refused(.limitExceeded), field: "predicate")
                }
                parts.append(try Predicate(message.message(), depth: depth + 1, size: &size))
            }
        }
        return parts
    }

    func encode(into buffer: inout ByteBuffer) {
        switch self {
        case .all: buffer.writeField(Proto.Predicate.all, true)
        case .nothing: buffer.writeField(Proto.Predicate.nothing, true)
        case .comparison(let comparison):
            buffer.writeMessage(Proto.Predicate.comparison) { comparison.encode(into: &$0) }
        case .and(let parts): buffer.writeMessage(Proto.Predicate.and) { Self.encode(parts, into: &$0) }
        case .or(let parts): buffer.writeMessage(Proto.Predicate.or) { Self.encode(parts, into: &$0) }
        }
    }

    private static func encode(_ parts: [Predicate], into buffer: inout ByteBuffer) {
        for part in parts { buffer.writeMessage(Proto.Predicates.parts) { part.encode(into: &$0) } }
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
        while let field = try message.next(Proto.Comparison.self) {
            switch field {
            case .comparator: comparator = try message.uint32()
            case .operand: operand = try message.bytes()
            case .distanceM: distanceMetres = try message.double()
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
            throw WireError(.refused(.invalidArguments), field: "operand", detail: error.text)
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
        buffer.writeField(Proto.Comparison.comparator, UInt32(self.comparator.rawValue))
        buffer.writeField(
            Proto.Comparison.operand,
            RecordBody([Field(name: self.field, value: self.operand)]).bytes
        )
        buffer.writeField(Proto.Comparison.distanceM, self.distanceMetres)
    }
}

extension SortKey {
    init(_ message: consuming MessageReader) throws(WireError) {
        self.init(field: "")
        while let field = try message.next(Proto.SortKey.self) {
            switch field {
            case .field: self.field = try message.text()
            case .descending: self.isAscending = try message.varint() == 0
            case .origin: self.origin = try Location(message.message())
            }
        }
        if let origin, !origin.isOnEarth { throw WireError(.refused(.invalidArguments), field: "origin") }
    }

    func encode(into buffer: inout ByteBuffer) {
        buffer.writeField(Proto.SortKey.field, self.field)
        buffer.writeField(Proto.SortKey.descending, !self.isAscending)
        guard let origin else { return }
        buffer.writeMessage(Proto.SortKey.origin) {
            $0.writeField(Proto.Location.latitude, origin.latitude)
            $0.writeField(Proto.Location.longitude, origin.longitude)
        }
    }
}

extension Location {
    /// A reference location: only two of its eight numbers count.
    fileprivate init(_ message: consuming MessageReader) throws(WireError) {
        self.init(latitude: 0, longitude: 0)
        while let field = try message.next(Proto.Location.self) {
            switch field {
            case .latitude: self.latitude = try message.double()
            case .longitude: self.longitude = try message.double()
            default: try message.skip(field)
            }
        }
    }

    /// `false` for NaN, too.
    fileprivate var isOnEarth: Bool { abs(self.latitude) <= 90 && abs(self.longitude) <= 180 }
}

extension CheckSchema {
    init(_ message: consuming MessageReader) throws(WireError) {
        self.init(schema: "")
        while let field = try message.next(Proto.CheckSchema.self) {
            switch field {
            case .schema: self.schema = try message.text()
            }
        }
        guard self.schema.utf8.count <= Bounds.schemaBytesMax else {
            throw WireError(.refused(.limitExceeded), field: "schema")
        }
    }

    func encode(into buffer: inout ByteBuffer) {
        buffer.writeField(Proto.CheckSchema.schema, self.schema)
    }
}
