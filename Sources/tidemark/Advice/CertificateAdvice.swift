import Foundation
import ServerCertificates

/// Error texts for certificates that cannot be used.
enum CertificateAdvice {
    static func failure(_ error: CertificateFilesError) -> CommandFailure {
        let anew = "To start over, remove the folder tls; all clients then need the new ca.pem."
        switch error {
        case .authorityMissing(let path):
            return CommandFailure(
                .configuration,
                "\(path) is missing beside its certificates. Restore it. \(anew)"
            )
        case .authorityUnreadable(let path):
            return CommandFailure(.configuration, "\(path) is not a certificate. Restore it. \(anew)")
        case .authorityKeyMissing(let path):
            return CommandFailure(
                .configuration,
                "the server's certificate has to be renewed, and \(path), which signs it, is missing or not the "
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
            "\(path) has no PEM content. Convert it with openssl x509, openssl pkey or openssl pkcs12."
        case .noCertificate: "\(path) has no certificate. Are tls_cert and tls_key swapped?"
        case .noKey: "\(path) has no private key. Are tls_cert and tls_key swapped?"
        case .encryptedKey:
            "the key in \(path) is encrypted, and the server cannot ask for its password. "
                + "Remove the password: openssl pkey -in \(ShellText.quoted(path)) -out FILE"
        case .sharedKey(let mode):
            "other users may read the key in \(path), or write to it (mode \(String(mode, radix: 8))). Restrict it to its owner: "
                + "chmod 600 \(ShellText.quoted(path)). A key that belongs to root may have mode 640 and the server's group; "
                + "give a container's secret the mode 0400."
        case .damaged: "\(path) is damaged, or of a kind that TLS 1.3 does not support."
        case .keyOfAnother(let certificate):
            "the key in \(path) does not belong to the first certificate in \(certificate). "
                + "Name the key that the certificate was requested with; the server's certificate comes first."
        case .expired(let date):
            "the certificate in \(path) has expired on \(date.formatted(.iso8601)). Renew it."
        case .notYetValid(let date):
            "the certificate in \(path) is not valid before \(date.formatted(.iso8601)). Check the clock."
        }
    }
}
