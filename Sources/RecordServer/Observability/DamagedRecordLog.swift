import Logging
package import StorageContract

extension Logger {
    /// Advice for an operator about a damaged record.
    static let adviceOnDamage: Logger.MetadataValue = """
        List such records with tidemark records damaged, and remove them with tidemark records delete. A \
        backup may have them whole. Check the disk.
        """
}

extension FaultLog {
    /// Logs that an index lacks fields of a record.
    package func tellNotIndexed(_ record: DamagedRecord) {
        self.tell(
            "a damaged record could not be indexed whole",
            about: "\(record)",
            metadata: [
                LogKeys.container: "\(record.container)",
                LogKeys.scope: "\(record.scope)",
                LogKeys.zone: "\(record.zone)",
                LogKeys.owner: "\(record.owner)",
                LogKeys.record: "\(record.name)",
                LogKeys.advice: Logger.adviceOnDamage,
            ]
        )
    }
}
