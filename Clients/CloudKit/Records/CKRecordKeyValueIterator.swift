/// Iterates over the fields of a record in the order of their keys, as they were at its start.
///
/// - Source: Apple's `CKRecordKeyValueIterator`.
public struct CKRecordKeyValueIterator: IteratorProtocol {
    /// A key and its value.
    public typealias Element = (CKRecord.FieldKey, any CKRecordValueProtocol)

    private var rest: ArraySlice<Element>

    init(_ elements: [Element]) {
        self.rest = elements[...]
    }

    /// Returns the next field; `nil` at the end.
    public mutating func next() -> Element? { self.rest.popFirst() }
}
