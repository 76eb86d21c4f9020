import RecordModel
import StorageContract

/// A record that will be written.
///
/// An object, because copying it takes longer than looking it up. Nearly always `parts` is `nil`,
/// so a save costs no more than the record.
final class PlannedSave {
    let index: Int
    let name: String
    let existing: StoredRecord?
    let record: StoredRecord
    /// Work besides the save.
    ///
    /// `nil` if only the record is written, and nothing refers to anything.
    let parts: PlannedParts?

    init(index: Int, name: String, existing: StoredRecord?, record: StoredRecord, parts: PlannedParts?) {
        self.index = index
        self.name = name
        self.existing = existing
        self.record = record
        self.parts = parts
    }

    /// The share after the save; `nil` if the record is none.
    var share: Share? { self.parts?.share }
}

/// The parts of a save besides writing its record.
final class PlannedParts {
    /// Whether it is the first record of its type that is ever saved.
    var definesType = false
    var definitions: [String: FieldDefinition] = [:]
    var referencesBefore = References()
    var references = References()
    /// The targets of the save itself, which must exist.
    var targets: [String] = []
    var assets = AssetChanges.none
    /// The numbers of assets that the record did not name before.
    var assetNumbers: [AssetNumber] = []
    /// The bytes of assets among them that count from now on, and did not before.
    var assetBytesBack = 0
    var share: Share?
}
