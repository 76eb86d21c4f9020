/// The bytes that an operator permits to be stored.
///
/// They count bodies of records, assets (each once per database), and what `RowBytes` adds.
package struct StorageQuotas: Hashable, Sendable {
    /// Bound for each user, over their private databases; 0 for no bound.
    package var userBytes: Int64
    /// Bound for each container, over all its databases; 0 for no bound.
    package var containerBytes: Int64

    package static let none = StorageQuotas()

    package init(userBytes: Int64 = 0, containerBytes: Int64 = 0) {
        self.userBytes = userBytes
        self.containerBytes = containerBytes
    }

    package var isAny: Bool { self.userBytes > 0 || self.containerBytes > 0 }
}
