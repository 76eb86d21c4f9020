import ServerCertificates

/// What unusable certificates mean to somebody at a command line.
enum CertificateAdvice {
    static func failure(_ error: CertificateFilesError) -> CommandFailure {
        let anew = "To start anew, remove the folder tls; all clients then need the new ca.pem."
        switch error {
        case .authorityMissing(let path):
            return CommandFailure(
                .configuration,
                "\(path) is missing beside its certificates. Restore it. \(anew)"
            )
        case .authorityUnreadable(let path):
            return CommandFailure(.configuration, "\(path) is no certificate. Restore it. \(anew)")
        case .authorityKeyMissing(let path):
            return CommandFailure(
                .configuration,
                "the server's certificate has to be issued anew, and \(path), which signs it, is missing or not the "
                    + "authority's. Restore it. \(anew)"
            )
        case .authorityExpired(let path):
            return CommandFailure(.configuration, "\(path) is about to expire. \(anew)")
        }
    }
}
