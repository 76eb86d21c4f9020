extension RecordBody {
    /// Checks bytes that came from a peer: encoding, order, names, values and counts.
    ///
    /// No value is built. The caller, who knows the limit in force, bounds the size. System fields
    /// are in records, not in saves.
    ///
    /// - Parameters:
    ///   - bytes: Encoded `RecordFields` of a peer.
    ///   - allowsClear: Whether `clear` may replace a value: in a save, but not in a record.
    /// - Throws: `BodyError` for the first error from front to back.
    package init(checking bytes: [UInt8], allowsClear: Bool) throws(BodyError) {
        try Self.check(bytes, allowsClear: allowsClear)
        self.init(trusted: bytes)
    }

    private static func check(_ bytes: [UInt8], allowsClear: Bool) throws(BodyError) {
        var cursor = FieldWalk(bytes)
        var rules = ValueRules(bytes)
        var last: Range<Int>?
        var count = 0
        while let slice = try cursor.next() {
            count += 1
            guard count <= Bounds.fieldsMax else { throw .tooManyFields }
            guard
                NameRules.isIdentifier(bytes, slice.name)
                    || (!allowsClear && ShareRecord.isField(rules.text(slice.name)))
            else {
                throw .fieldNameInvalid(rules.text(slice.name))
            }
            if let last, self.order(bytes, last, bytes, slice.name) >= 0 {
                throw .fieldOrder(rules.text(slice.name))
            }
            if slice.type == .clear, !allowsClear {
                throw .clearNotAllowed(field: rules.text(slice.name))
            }
            try rules.check(slice)
            last = slice.name
        }
    }

    /// Compares names by their bytes: negative if the left one comes first, 0 if they are equal.
    static func order(
        _ left: [UInt8],
        _ leftName: Range<Int>,
        _ right: [UInt8],
        _ rightName: Range<Int>
    ) -> Int {
        for offset in 0..<min(leftName.count, rightName.count) {
            let difference =
                Int(left[leftName.lowerBound + offset]) - Int(right[rightName.lowerBound + offset])
            if difference != 0 { return difference }
        }
        return leftName.count - rightName.count
    }
}

extension Field {
    /// Checks an operand that came from a peer: a body of one plain field, which may have the name
    /// of a system field.
    ///
    /// - Throws: `BodyError` for the first error.
    package init(checkingOperand bytes: [UInt8]) throws(BodyError) {
        var cursor = FieldWalk(bytes)
        var rules = ValueRules(bytes)
        guard let slice = try cursor.next(), try cursor.next() == nil, !slice.isEncrypted else {
            throw .malformed
        }
        let name = rules.text(slice.name)
        guard NameRules.isIdentifier(bytes, slice.name) || SystemField(rawValue: name) != nil else {
            throw .fieldNameInvalid(name)
        }
        guard slice.type != .clear else { throw .clearNotAllowed(field: name) }
        try rules.check(slice)
        self.init(name: name, value: RecordBody(trusted: bytes).value(of: slice))
    }
}

/// The rules for values, type by type.
private struct ValueRules {
    private var reader: WireReader
    /// Name of the field whose value is validated.
    private var name = 0..<0

    init(_ bytes: [UInt8]) {
        self.reader = WireReader(bytes)
    }

    func text(_ range: Range<Int>) -> String {
        String(decoding: self.reader.bytes[range], as: UTF8.self)
    }

    mutating func check(_ slice: FieldSlice) throws(BodyError) {
        self.name = slice.name
        self.reader.start(in: slice.value)
        switch slice.type {
        case .string: try self.checkText(slice.value)
        case .int64: _ = try self.reader.varint()
        case .double, .timestamp: _ = try self.checkFinite()
        case .bytes: break
        case .location: try self.checkLocation()
        case .reference: try self.checkReference()
        case .asset: try self.checkAsset()
        case .stringList, .bytesList, .locationList, .referenceList, .assetList:
            try self.checkList(slice.type)
        case .int64List, .doubleList, .timestampList: try self.checkNumbers(slice.type)
        case .emptyList, .clear:
            guard try self.reader.varint() == 1 else { throw self.invalid }
        }
    }

    private var invalid: BodyError { .valueInvalid(field: self.text(self.name)) }

    /// Only text that is not ASCII is decoded.
    private func checkText(_ range: Range<Int>) throws(BodyError) {
        let bytes = self.reader.bytes
        var all: UInt8 = 0
        for index in range { all |= bytes[index] }
        guard all < 0x80 || String(validating: bytes[range], as: UTF8.self) != nil else { throw self.invalid }
    }

    private mutating func checkFinite() throws(BodyError) -> Double {
        let number = try self.reader.double()
        guard number.isFinite else { throw self.invalid }
        return number
    }

    /// `repeated` of length-delimited elements, number 1.
    private mutating func checkList(_ type: FieldType) throws(BodyError) {
        var count = 0
        while !self.reader.isAtEnd {
            guard try self.reader.varint() == 0x0A else { throw .malformed }
            let element = try self.reader.delimited()
            count += 1
            guard count <= Bounds.listElementsMax else {
                throw .tooManyElements(field: self.text(self.name))
            }
            switch type {
            case .stringList: try self.checkText(element)
            case .locationList:
                try self.inside(element) { (rules) throws(BodyError) in try rules.checkLocation() }
            case .referenceList:
                try self.inside(element) { (rules) throws(BodyError) in try rules.checkReference() }
            case .assetList:
                try self.inside(element) { (rules) throws(BodyError) in try rules.checkAsset() }
            default: break
            }
        }
    }

    private mutating func inside(
        _ element: Range<Int>,
        _ check: (inout Self) throws(BodyError) -> Void
    ) throws(BodyError) {
        let outer = self.reader.enter(element)
        try check(&self)
        try self.reader.leave(to: outer)
    }

    /// `repeated` of packed numbers, number 1; absent when there are none.
    private mutating func checkNumbers(_ type: FieldType) throws(BodyError) {
        guard !self.reader.isAtEnd else { return }
        guard try self.reader.varint() == 0x0A else { throw .malformed }
        let outer = try self.reader.enter()
        guard !self.reader.isAtEnd else { throw .malformed }
        var count = 0
        while !self.reader.isAtEnd {
            count += 1
            guard count <= Bounds.listElementsMax else {
                throw .tooManyElements(field: self.text(self.name))
            }
            if type == .int64List { _ = try self.reader.varint() } else { _ = try self.checkFinite() }
        }
        try self.reader.leave(to: outer)
        guard self.reader.isAtEnd else { throw .malformed }
    }

    private mutating func checkLocation() throws(BodyError) {
        var last: UInt64 = 0
        while !self.reader.isAtEnd {
            let tag = try self.reader.varint()
            guard tag > last, tag & 7 == 1, let number = LocationNumber(rawValue: tag >> 3) else {
                throw .malformed
            }
            let value = try self.checkFinite()
            guard value.bitPattern != 0 else { throw .malformed }
            switch number {
            case .latitude where abs(value) > 90, .longitude where abs(value) > 180: throw self.invalid
            default: break
            }
            last = tag
        }
    }

    private mutating func checkReference() throws(BodyError) {
        var last: UInt64 = 0
        var hasName = false
        while !self.reader.isAtEnd {
            let tag = try self.reader.varint()
            guard tag > last else { throw .malformed }
            switch tag {
            case 0x0A:
                try self.checkRecordName(try self.reader.delimited())
                hasName = true
            case 0x12: try self.checkZone()
            case 0x18:
                guard (1...2).contains(try self.reader.varint()) else { throw self.invalid }
            default: throw .malformed
            }
            last = tag
        }
        guard hasName else { throw self.invalid }
    }

    private mutating func checkAsset() throws(BodyError) {
        guard !self.reader.isAtEnd else { throw self.invalid }
        guard try self.reader.varint() == 0x0A else { throw .malformed }
        guard try self.reader.delimited().count == Asset.hashBytes else { throw self.invalid }
        guard !self.reader.isAtEnd else { return }
        guard try self.reader.varint() == 0x10 else { throw .malformed }
        let size = try self.reader.varint()
        guard size > 0 else { throw .malformed }
        guard size <= UInt64(Int64.max) else { throw self.invalid }
        guard self.reader.isAtEnd else { throw .malformed }
    }

    private func checkRecordName(_ range: Range<Int>) throws(BodyError) {
        let name = self.text(range)
        guard NameRules.isItemName(name) || NameRules.isUserRecordName(name) else { throw self.invalid }
    }

    /// Any zone is accepted here.
    ///
    /// The store refuses all but the referrer's.
    private mutating func checkZone() throws(BodyError) {
        let outer = try self.reader.enter()
        var last: UInt64 = 0
        while !self.reader.isAtEnd {
            let tag = try self.reader.varint()
            guard tag > last, tag == 0x0A || tag == 0x12 else { throw .malformed }
            let name = try self.reader.delimited()
            guard !name.isEmpty else { throw .malformed }
            try self.checkText(name)
            last = tag
        }
        try self.reader.leave(to: outer)
    }
}
