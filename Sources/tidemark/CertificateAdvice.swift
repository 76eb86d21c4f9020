import Foundation
import ServerCertificates

/// Error texts for certificates that cannot be used.
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

    static func failure(_ error: CertificatePairError) -> CommandFailure {
        CommandFailure(.configuration, self.text(of: error.problem, error.path))
    }

    private static func text(of problem: CertificatePairError.Problem, _ path: String) -> String {
        switch problem {
        case .unreadable(let code):
            "\(path) cannot be read: \(String(cString: strerror(code))). Check the path, and that this user may read it."
        case .noPEM:
            "\(path) has nothing in PEM. Convert it: openssl x509, openssl pkey or openssl pkcs12 do."
        case .noCertificate: "\(path) has no certificate. Are tls_cert and tls_key swapped?"
        case .noKey: "\(path) has no private key. Are tls_cert and tls_key swapped?"
        case .encryptedKey:
            "the key in \(path) is encrypted, and nobody is there to type its password. "
                + "Write it without one: openssl pkey -in \(ShellText.quoted(path)) -out FILE"
        case .sharedKey(let mode):
            "other users may read the key in \(path), or write to it (mode \(String(mode, radix: 8))). Keep it to its owner: "
                + "chmod 600 \(ShellText.quoted(path)). A key of root's may have mode 640 and the server's group; "
                + "to a secret of a container give the mode 0400."
        case .damaged: "\(path) is damaged, or of a kind that TLS 1.3 does not use."
        case .keyOfAnother(let certificate):
            "the key in \(path) is not that of the first certificate in \(certificate). "
                + "Name the key that the certificate was requested with; the server's certificate comes first."
        case .expired(let date):
            "the certificate in \(path) has expired on \(date.formatted(.iso8601)). Renew it."
        case .notYetValid(let date):
            "the certificate in \(path) is valid from \(date.formatted(.iso8601)) on. Look at the clock."
        }
    }
}
