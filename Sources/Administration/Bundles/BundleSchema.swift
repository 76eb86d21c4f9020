import RecordModel
import RecordStore
import StorageContract

/// The effect of a bundle's schema on the schema here.
///
/// Types and fields that are there stay. In development, missing types and fields are added, with their
/// indexes and grants. Production takes only what was deployed.
struct BundleSchema {
    /// Types and fields that are missing here.
    private(set) var added: [String] = []
    private(set) var merged: SchemaDocument

    /// - Throws: `fieldTypeDiffers` for a field that has another type here.
    init(adding bundle: SchemaDocument, to current: SchemaDocument) throws(BundleFailure) {
        self.merged = current
        for type in bundle.recordTypes where type.name != UserRecord.type {
            guard let index = self.merged.recordTypes.firstIndex(where: { $0.name == type.name }) else {
                self.added.append(type.name)
                self.merged.recordTypes.append(type)
                continue
            }
            for field in type.fields where !field.isSystem {
                guard let known = self.merged.recordTypes[index][field.name] else {
                    self.added.append("\(type.name).\(field.name)")
                    self.merged.recordTypes[index].fields.append(field)
                    continue
                }
                guard known.type == field.type, known.isEncrypted == field.isEncrypted else {
                    throw .fieldTypeDiffers("\(type.name).\(field.name)")
                }
            }
        }
        let named = Set(self.merged.recordTypes.flatMap { $0.grants.map(\.role) })
        let roles = bundle.roles.filter { named.contains($0) && !current.roles.contains($0) }
        self.merged.roles += roles
        self.merged = self.merged.canonical
    }

    /// Refuses what production lacks.
    func refuseInProduction() throws(BundleFailure) {
        guard self.added.isEmpty else { throw .productionLacks(self.added) }
    }
}
