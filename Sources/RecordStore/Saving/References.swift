package import RecordModel
package import StorageContract

/// The references of a body that the store has to watch: those with an action.
package struct References: Hashable, Sendable {
    package var kinds: [ExactName: ReferenceKinds] = [:]

    package init() {}

    /// The references of a record.
    package init(body: RecordBody, parent: String?) {
        self.add(body)
        if let parent { self.kinds[ExactName(parent), default: []].insert(.parent) }
    }

    /// The references that the fields of a save have; refuses those to other zones, with or without an
    /// action.
    package init(
        changes: RecordBody,
        in zone: ZoneID,
        requester: Requester
    ) throws(StoreError) {
        var cursor = FieldCursor(changes.bytes)
        while let slice = cursor.nextTrusted() {
            for reference in Self.references(in: slice, of: changes) {
                if let other = reference.zone {
                    guard Access.isSame(other, zone, for: requester) else {
                        throw .referenceCrossesZones(field: changes.name(of: slice))
                    }
                }
                self.add(reference)
            }
        }
    }

    package var isEmpty: Bool { self.kinds.isEmpty }

    /// The names of the records that are referred to.
    package var targets: [String] { self.kinds.keys.map(\.text) }

    private mutating func add(_ body: RecordBody) {
        var cursor = FieldCursor(body.bytes)
        while let slice = cursor.nextTrusted() {
            for reference in Self.references(in: slice, of: body) { self.add(reference) }
        }
    }

    private mutating func add(_ reference: Reference) {
        switch reference.action {
        case .none: return
        case .deleteSelf: self.kinds[ExactName(reference.recordName), default: []].insert(.deleteSelf)
        case .validate: self.kinds[ExactName(reference.recordName), default: []].insert(.validate)
        }
    }

    private static func references(in slice: FieldSlice, of body: RecordBody) -> [Reference] {
        guard slice.type == .reference || slice.type == .referenceList else { return [] }
        switch body.value(of: slice) {
        case .reference(let reference): return [reference]
        case .referenceList(let references): return references
        default: return []
        }
    }
}
