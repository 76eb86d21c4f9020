extension RecordBody {
    /// Checks bytes from a peer: encoding, order, names, values and counts.
    ///
    /// No value is built. The caller, who knows the limit in force, bounds the size. System fields
    /// are in records, not in saves.
    ///
    /// - Parameters:
    ///   - bytes: Encoded `RecordFields` of a peer.
    ///   - allowsClear: Whether `clear` may replace a value: in a save, but not in a record.
    /// - Throws: `BodyError` for the first error from front to back.
    package init(checking bytes: [UInt8], allowsClear: Bool) throws(BodyError) {
        self.init(trusted: bytes)
        _ = try self.check(allowsClear: allowsClear)
    }

    /// The types of the values in the body.
    package var contents: BodyContents {
        var contents = BodyContents()
        var walk = FieldWalk(self.bytes.span)
        while let slice = try? walk.next() { contents.note(slice) }
        return contents
    }

    /// Does the same for the bytes of this body.
    package func check(allowsClear: Bool) throws(BodyError) -> BodyContents {
        let bytes = self.bytes
        var contents = BodyContents()
        var walk = FieldWalk(bytes.span)
        var rules = ValueRules(bytes.span)
        var last: Range<Int>?
        var count = 0
        while let slice = try walk.next() {
            count += 1
            guard count <= Bounds.fieldsMax else { throw .tooManyFields }
            guard
                NameRules.isIdentifier(bytes, slice.name)
                    || (!allowsClear && ShareRecord.isField(rules.text(slice.name)))
            else {
                throw .fieldNameInvalid(rules.text(slice.name))
            }
            if let last, Self.order(bytes, last, bytes, slice.name) >= 0 {
                throw .fieldOrder(rules.text(slice.name))
            }
            if slice.type == .clear, !allowsClear {
                throw .clearNotAllowed(field: rules.text(slice.name))
            }
            try rules.check(slice)
            contents.note(slice)
            last = slice.name
        }
        return contents
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
    /// Checks an operand from a peer: a body of one plain field, which may have the name of a
    /// system field.
    ///
    /// - Throws: `BodyError` for the first error.
    package init(checkingOperand bytes: [UInt8]) throws(BodyError) {
        var walk = FieldWalk(bytes.span)
        var rules = ValueRules(bytes.span)
        guard let slice = try walk.next(), try walk.next() == nil, !slice.isEncrypted else {
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

/// The types of the values in a body.
package struct BodyContents: Hashable, Sendable {
    private var types: UInt32 = 0

    package init() {}

    package func has(_ type: FieldType) -> Bool { self.types & 1 << UInt32(type.rawValue) != 0 }

    fileprivate mutating func note(_ slice: FieldSlice) { self.types |= 1 << UInt32(slice.type.rawValue) }
}

/// The rules for values, type by type.
private struct ValueRules: ~Escapable {
    private let bytes: Span<UInt8>
    /// Name of the field with the value that is validated.
    private var name = 0..<0

    @_lifetime(copy bytes)
    init(_ bytes: Span<UInt8>) {
        self.bytes = bytes
    }

    func text(_ range: Range<Int>) -> String { self.bytes.repairedText(range) }

    mutating func check(_ slice: FieldSlice) throws(BodyError) {
        self.name = slice.name
        var reader = BodyReader(self.bytes, in: slice.value)
        switch slice.type {
        case .string: try self.checkText(slice.value)
        case .int64: _ = try reader.varint()
        case .double, .timestamp: _ = try self.checkFinite(&reader)
        case .bytes: break
        case .location: try self.checkLocation(&reader)
        case .reference: try self.checkReference(&reader)
        case .asset: try self.checkAsset(&reader)
        case .stringList, .bytesList, .locationList, .referenceList, .assetList:
            try self.checkList(slice.type, &reader)
        case .int64List, .doubleList, .timestampList: try self.checkNumbers(slice.type, &reader)
        case .emptyList, .clear:
            guard try reader.varint() == 1 else { throw self.invalid }
        }
    }

    private var invalid: BodyError { .valueInvalid(field: self.text(self.name)) }

    private func checkText(_ range: Range<Int>) throws(BodyError) {
        guard self.bytes.isText(range) else { throw self.invalid }
    }

    private func checkFinite(_ reader: inout BodyReader) throws(BodyError) -> Double {
        let number = try reader.double()
        guard number.isFinite else { throw self.invalid }
        return number
    }

    /// Checks a `repeated` field of length-delimited elements.
    private func checkList(_ type: FieldType, _ reader: inout BodyReader) throws(BodyError) {
        var count = 0
        while !reader.isAtEnd {
            try reader.expect(Proto.StringList.values)
            let element = try reader.delimited()
            count += 1
            guard count <= Bounds.listElementsMax else {
                throw .tooManyElements(field: self.text(self.name))
            }
            var part = reader.part(element)
            switch type {
            case .stringList: try self.checkText(element)
            case .locationList: try self.checkLocation(&part)
            case .referenceList: try self.checkReference(&part)
            case .assetList: try self.checkAsset(&part)
            default: break
            }
        }
    }

    /// Checks a `repeated` field of packed numbers; absent if it is empty.
    private func checkNumbers(_ type: FieldType, _ reader: inout BodyReader) throws(BodyError) {
        guard !reader.isAtEnd else { return }
        try reader.expect(Proto.DoubleList.values)
        var numbers = try reader.message()
        guard !numbers.isAtEnd else { throw .malformed }
        var count = 0
        while !numbers.isAtEnd {
            count += 1
            guard count <= Bounds.listElementsMax else {
                throw .tooManyElements(field: self.text(self.name))
            }
            if type == .int64List { _ = try numbers.varint() } else { _ = try self.checkFinite(&numbers) }
        }
        try reader.finish()
    }

    private func checkLocation(_ reader: inout BodyReader) throws(BodyError) {
        var last: UInt32 = 0
        while let field = try reader.next(Proto.Location.self) {
            guard field.tag > last else { throw .malformed }
            let value = try self.checkFinite(&reader)
            guard value.bitPattern != 0 else { throw .malformed }
            switch field {
            case .latitude where abs(value) > 90, .longitude where abs(value) > 180: throw self.invalid
            default: break
            }
            last = field.tag
        }
    }

    private func checkReference(_ reader: inout BodyReader) throws(BodyError) {
        var last: UInt32 = 0
        var hasName = false
        while let field = try reader.next(Proto.Reference.self) {
            guard field.tag > last else { throw .malformed }
            switch field {
            case .recordName:
                try self.checkRecordName(try reader.delimited())
                hasName = true
            case .zone:
                var zone = try reader.message()
                try self.checkZone(&zone)
            case .action:
                guard (1...2).contains(try reader.varint()) else { throw self.invalid }
            }
            last = field.tag
        }
        guard hasName else { throw self.invalid }
    }

    private func checkAsset(_ reader: inout BodyReader) throws(BodyError) {
        guard !reader.isAtEnd else { throw self.invalid }
        try reader.expect(Proto.Asset.sha256)
        guard try reader.delimited().count == Asset.hashBytes else { throw self.invalid }
        guard !reader.isAtEnd else { return }
        try reader.expect(Proto.Asset.size)
        let size = try reader.varint()
        guard size > 0 else { throw .malformed }
        guard size <= UInt64(Int64.max) else { throw self.invalid }
        try reader.finish()
    }

    private func checkRecordName(_ range: Range<Int>) throws(BodyError) {
        guard let name = self.bytes.text(range) else { throw self.invalid }
        guard NameRules.isRecordName(name) || NameRules.isUserRecordName(name) else {
            throw .recordNameInvalid(field: self.text(self.name), name: name)
        }
    }

    /// Any zone is accepted here.
    ///
    /// The store refuses all but the referrer's.
    private func checkZone(_ reader: inout BodyReader) throws(BodyError) {
        var last: UInt32 = 0
        while let field = try reader.next(Proto.ZoneID.self) {
            guard field.tag > last else { throw .malformed }
            let name = try reader.delimited()
            guard !name.isEmpty else { throw .malformed }
            try self.checkText(name)
            last = field.tag
        }
    }
}
