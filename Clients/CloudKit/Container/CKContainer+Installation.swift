extension CKContainer {
    /// Makes a container of the same data and user, as an installation of its own without ledgers.
    ///
    /// A notification that another installation has acknowledged is still delivered to it.
    ///
    /// - Throws: `CKError.badContainer` if the container has no identifier, or if a setting of its
    ///   connection is missing.
    package func installation(named name: String) throws(CKError) -> CKContainer {
        guard let identifier = self.containerIdentifier else {
            _ = try self.access.session()
            return self
        }
        var connection = try self.access.connection()
        connection.installationName = name
        connection.ledgerBytesMax = 0
        return CKContainer(identifier: identifier, connection: connection)
    }

    /// The container and environment; two databases with the same one have the same data.
    ///
    /// - Throws: `CKError.badContainer` if a setting of the connection is missing.
    package func home() throws(CKError) -> String {
        "\(self.containerIdentifier ?? "")/\(try self.access.connection().environment.rawValue)"
    }
}
