/// How many bytes an operator lets be stored: bodies of records, assets, each once in a database, and what `RowBytes` counts.
package struct StorageQuotas: Hashable, Sendable {
    /// Of each user, in his private databases; 0: as much as there is.
    package var userBytes: Int64
    /// Of each container, in all its databases; 0: as much as there is.
    package var containerBytes: Int64

    package static let none = StorageQuotas()

    package init(userBytes: Int64 = 0, containerBytes: Int64 = 0) {
        self.userBytes = userBytes
        self.containerBytes = containerBytes
    }

    package var isAny: Bool { self.userBytes > 0 || self.containerBytes > 0 }
}
