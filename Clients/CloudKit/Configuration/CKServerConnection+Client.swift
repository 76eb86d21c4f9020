private import Foundation
internal import RecordClient
private import RecordModel
private import WireProtocol

extension CKServerConnection {
    /// Returns the settings with which the record client connects.
    ///
    /// - Throws: `CKError.badContainer` for an invalid address, container identifier or credential.
    func clientConfiguration(container: String) throws(CKError) -> ClientConfiguration {
        guard NameRules.isContainerID(container) else {
            throw CKError.local(
                .badContainer,
                "\"\(container)\" is not a container identifier: use letters, digits, '.', '-' and '_', a letter first"
            )
        }
        let (host, port) = try self.address()
        var configuration = ClientConfiguration(
            host: host,
            port: port,
            trust: self.trust,
            container: container,
            environment: self.environment == .production ? .production : .development
        )
        configuration.credential = try self.credential()
        configuration.installationID =
            self.installationName.map { InstallationID.current(named: $0) } ?? InstallationID.current
        return configuration
    }

    /// Returns the ledgers of a container's feeds; `nil` if none are kept, or none can be.
    func ledgers(of container: String, at address: String) -> Ledgers? {
        Ledgers(
            folder: self.ledgerFolder ?? InstallationID.folder + "/ledgers",
            bytesMax: self.ledgerBytesMax,
            container: "\(container)\n\(self.environment.rawValue)",
            address: address
        )
    }

    private var trust: ClientConfiguration.Trust {
        switch self.certificateAuthority {
        case .system: .system
        case .file(let path): .authorities(file: path)
        case .pem(let text): .pem(text)
        }
    }

    /// Host and port of the address.
    private func address() throws(CKError) -> (host: String, port: Int) {
        guard let parts = URLComponents(string: self.url), parts.scheme?.lowercased() == "tidemark",
            let host = parts.host, !host.isEmpty, parts.path.isEmpty || parts.path == "/",
            parts.user == nil, parts.query == nil, parts.fragment == nil
        else {
            throw CKError.local(
                .badContainer,
                "\"\(ShownAddress.text(self.url))\" is not the address of a server: set \(Variable.url) to tidemark://host:port"
            )
        }
        let port = parts.port ?? ProtocolVersion.defaultPort
        guard (1...65_535).contains(port) else {
            throw CKError.local(
                .badContainer,
                "\(port) is not a port: set \(Variable.url) to tidemark://host:port"
            )
        }
        // A URL has brackets around an IPv6 address; nothing else has them.
        return (host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host, port)
    }
}
