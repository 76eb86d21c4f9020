import RecordModel
package import StorageContract

extension IndexChanges {
    /// Compares two versions of a record, which have the same name and the type of the definitions.
    ///
    /// `old` is `nil` if the record is new, `new` if it is deleted.
    package init(
        from old: StoredRecord?,
        to new: StoredRecord?,
        named name: String,
        definitions: FieldDefinitions
    ) {
        self.init()
        self.compareSystemFields(old, new, name, definitions.systemIndexes)
        guard !definitions.indexed.isEmpty else { return }
        let before = old?.body ?? .empty
        let after = new?.body ?? .empty
        let isTextChanged = self.compareFields(before, after, definitions.indexed)
        guard isTextChanged, let allText = definitions.systemIndexes.allText else { return }
        let wordsBefore = Self.words(of: before, definitions.indexed)
        let wordsAfter = Self.words(of: after, definitions.indexed)
        (self.wordsRemoved, self.wordsAdded) = (-self.removed.count, -self.added.count)
        for word in wordsBefore where !wordsAfter.contains(word) {
            self.removed.append(IndexEntry(index: allText, value: word))
        }
        for word in wordsAfter where !wordsBefore.contains(word) {
            self.added.append(IndexEntry(index: allText, value: word))
        }
        self.wordsRemoved += self.removed.count
        self.wordsAdded += self.added.count
    }

    // MARK: System fields

    private mutating func compareSystemFields(
        _ old: StoredRecord?,
        _ new: StoredRecord?,
        _ name: String,
        _ indexes: SystemIndexes
    ) {
        if let index = indexes.recordID {
            self.compare(index, old.map { _ in name }, new.map { _ in name }) { IndexValue.reference($0) }
        }
        if let index = indexes.parent {
            self.compare(index, old?.parent, new?.parent) { IndexValue.reference($0) }
        }
        if let index = indexes.createTime {
            self.compare(index, old?.system.createdMilliseconds, new?.system.createdMilliseconds) {
                IndexValue.time(milliseconds: $0)
            }
        }
        if let index = indexes.modTime {
            self.compare(index, old?.system.modifiedMilliseconds, new?.system.modifiedMilliseconds) {
                IndexValue.time(milliseconds: $0)
            }
        }
        if let index = indexes.createdBy {
            self.compare(index, old?.createdBy, new?.createdBy) { IndexValue.reference($0) }
        }
        if let index = indexes.modifiedBy {
            self.compare(index, old?.modifiedBy, new?.modifiedBy) { IndexValue.reference($0) }
        }
        if let index = indexes.etag {
            self.compare(index, old?.position, new?.position) { IndexValue.string(ChangeTag.text(of: $0)) }
        }
    }

    private mutating func compare<Value: Equatable>(
        _ index: Int64,
        _ old: Value?,
        _ new: Value?,
        _ encode: (Value) -> [UInt8]
    ) {
        guard old != new else { return }
        if let old { self.removed.append(IndexEntry(index: index, value: encode(old))) }
        if let new { self.added.append(IndexEntry(index: index, value: encode(new))) }
    }

    // MARK: Fields of users

    /// Walks both bodies and the indexed fields together, in the order of names, and skips fields
    /// that neither body has.
    ///
    /// Returns whether the text of a searchable field differs.
    private mutating func compareFields(
        _ old: RecordBody,
        _ new: RecordBody,
        _ fields: [IndexedField]
    ) -> Bool {
        var before = FieldSearch(old)
        var after = FieldSearch(new)
        var isTextChanged = false
        var position = 0
        while position < fields.count {
            let field = fields[position]
            position += 1
            let (was, will) = (before.slice(of: field.name), after.slice(of: field.name))
            guard was != nil || will != nil else {
                guard let next = FieldSearch.firstName(before, after) else { break }
                position = FieldSearch.index(of: next, in: fields, from: position)
                continue
            }
            if let was, let will, was.type == will.type, old.bytes[was.value] == new.bytes[will.value] {
                continue
            }
            if field.isSearchable { isTextChanged = true }
            guard let index = field.index else { continue }
            self.replace(
                was.map { Self.values(of: $0, in: old, isNumber: field.isNumber) } ?? [],
                with: will.map { Self.values(of: $0, in: new, isNumber: field.isNumber) } ?? [],
                index
            )
        }
        return isTextChanged
    }

    private mutating func replace(_ old: [[UInt8]], with new: [[UInt8]], _ index: Int64) {
        if old.count <= 1, new.count <= 1 {
            // Different values may have the same index bytes: long texts, -0, points in one cell, 1
            // and 1.0.
            self.compare(index, old.first, new.first) { $0 }
            return
        }
        let (olds, news) = (Set(old), Set(new))
        for value in old where !news.contains(value) {
            self.removed.append(IndexEntry(index: index, value: value))
        }
        for value in new where !olds.contains(value) {
            self.added.append(IndexEntry(index: index, value: value))
        }
    }

    private static func values(
        of slice: FieldSlice,
        in body: RecordBody,
        isNumber: Bool
    ) -> [[UInt8]] {
        switch slice.type {
        case .string, .bytes: [Array(body.bytes[slice.value].prefix(IndexValue.bytesMax))]
        case .int64, .double, .timestamp, .location, .reference, .stringList, .int64List, .doubleList,
            .timestampList, .bytesList, .locationList, .referenceList, .asset, .assetList, .emptyList, .clear:
            IndexValue.entries(of: body.value(of: slice), isNumber: isNumber)
        }
    }

    private static func words(of body: RecordBody, _ fields: [IndexedField]) -> Set<[UInt8]> {
        var words: Set<[UInt8]> = []
        var search = FieldSearch(body)
        var position = 0
        while let name = search.name {
            position = FieldSearch.index(of: name, in: fields, from: position)
            guard position < fields.count else { break }
            let field = fields[position]
            position += 1
            guard let slice = search.slice(of: field.name), field.isSearchable else { continue }
            switch slice.type {
            case .string: SearchTokens.add(body.bytes[slice.value], to: &words)
            case .stringList:
                guard case .stringList(let list) = body.value(of: slice) else { continue }
                for text in list { SearchTokens.add(ArraySlice(text.utf8), to: &words) }
            default: continue
            }
        }
        return words
    }
}

/// Finds fields of a body in the order of their names.
private struct FieldSearch {
    private let bytes: [UInt8]
    private var cursor: FieldCursor
    private var current: FieldSlice?

    init(_ body: RecordBody) {
        self.bytes = body.bytes
        self.cursor = FieldCursor(body.bytes)
        self.current = self.cursor.nextTrusted()
    }

    mutating func slice(of name: [UInt8]) -> FieldSlice? {
        while let slice = self.current {
            let order = Self.order(self.bytes[slice.name], name)
            if order == 0 { return slice }
            if order > 0 { return nil }
            self.current = self.cursor.nextTrusted()
        }
        return nil
    }

    /// The name of the next field, or `nil` at the end.
    var name: ArraySlice<UInt8>? { self.current.map { self.bytes[$0.name] } }

    /// The lesser of two bodies' next names, or `nil` at the end of both.
    static func firstName(_ one: FieldSearch, _ other: FieldSearch) -> ArraySlice<UInt8>? {
        guard let name = one.name, let otherName = other.name else { return one.name ?? other.name }
        return name.lexicographicallyPrecedes(otherName) ? name : otherName
    }

    /// Index of the first field with a name that is not less than this one.
    ///
    /// It is nearly always at the start. The steps begin with one and double, so a wide type costs
    /// no more than the record.
    static func index(of name: ArraySlice<UInt8>, in fields: [IndexedField], from start: Int) -> Int {
        var (low, high, step) = (start, start, 1)
        while high < fields.count, self.order(name, fields[high].name) > 0 {
            low = high + 1
            high += step
            step *= 2
        }
        high = min(high, fields.count)
        while low < high {
            let middle = (low + high) / 2
            if self.order(name, fields[middle].name) > 0 { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Negative if the left name comes first.
    private static func order(_ left: ArraySlice<UInt8>, _ right: [UInt8]) -> Int {
        for (a, b) in zip(left, right) where a != b { return Int(a) - Int(b) }
        return left.count - right.count
    }
}

extension StoredRecord {
    /// `nil` if the creator was not signed in.
    fileprivate var createdBy: String? { self.system.createdBy.isEmpty ? nil : self.system.createdBy }
    fileprivate var modifiedBy: String? { self.system.modifiedBy.isEmpty ? nil : self.system.modifiedBy }
}
