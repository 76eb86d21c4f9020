import RecordModel
package import StorageContract

/// A record that many conditions are tested on.
///
/// Each value is decoded once, when it is first needed, and the comparisons are counted. Used by
/// one thread.
package final class ComparedRecord {
    package let record: NamedRecord
    /// Ascending by the bytes of their names.
    private let slices: [FieldSlice]
    /// By index in `slices`.
    private var decoded: [Int: [ComparableValue]] = [:]
    private var words: [[String]: Set<[UInt8]>] = [:]
    /// The cost of all conditions so far: compared values, including elements of lists and
    /// operands, and decoding.
    package private(set) var comparisons = 0

    /// Bytes of text that take about as long as a comparison.
    private static let textBytes = 8

    package init(_ record: NamedRecord) {
        self.record = record
        var slices: [FieldSlice] = []
        var cursor = FieldCursor(record.stored.body.bytes)
        while let slice = cursor.nextTrusted() { slices.append(slice) }
        self.slices = slices
    }

    /// The values that a field offers to a comparison, or `nil` if the record lacks the field or it
    /// cannot be compared.
    package func elements(of field: String) -> [ComparableValue]? {
        if let system = SystemField(rawValue: field) { return self.record.value(of: system).map { [$0] } }
        return self.index(of: field).flatMap { self.elements(at: $0) }
    }

    /// Number of fields of the record, without system fields.
    package var fieldsCount: Int { self.slices.count }

    /// Calls `body` with the name of each field of the record, including system fields.
    package func forEachField(_ body: (String) -> Void) {
        let bytes = self.record.stored.body.bytes
        for slice in self.slices { body(String(decoding: bytes[slice.name], as: UTF8.self)) }
        for field in SystemField.allCases { body(field.rawValue) }
    }

    private func elements(at index: Int) -> [ComparableValue]? {
        let slice = self.slices[index]
        guard !slice.isEncrypted else { return nil }
        if let known = self.decoded[index] { return known }
        let elements = self.record.stored.body.elements(of: slice)
        self.comparisons += elements?.count ?? 0
        self.decoded[index] = elements
        return elements
    }

    private func index(of field: String) -> Int? {
        let bytes = self.record.stored.body.bytes
        var field = field
        return field.withUTF8 { name in
            var low = 0
            var high = self.slices.count
            while low < high {
                let middle = (low + high) / 2
                if bytes[self.slices[middle].name].lexicographicallyPrecedes(name) {
                    low = middle + 1
                } else {
                    high = middle
                }
            }
            guard low < self.slices.count, bytes[self.slices[low].name].elementsEqual(name) else {
                return nil
            }
            return low
        }
    }
}

extension ComparedRecord: ConditionValues {
    func tokens(of fields: [String]) -> Set<[UInt8]> {
        self.comparisons += fields.count
        if let known = self.words[fields] { return known }
        var tokens: Set<[UInt8]> = []
        for field in fields {
            guard let index = self.index(of: field), !self.slices[index].isEncrypted else { continue }
            for text in self.record.stored.body.texts(of: self.slices[index]) {
                self.comparisons += text.utf8.count / Self.textBytes
                SearchTokens.add(Array(text.utf8)[...], to: &tokens)
            }
        }
        self.words[fields] = tokens
        return tokens
    }

    func count(comparisons: Int) { self.comparisons += comparisons }
}
