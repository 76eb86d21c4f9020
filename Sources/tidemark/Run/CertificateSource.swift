import Administration
import Foundation
import Logging
import RecordServer
import ServerCertificates

/// The source of the server's certificate, both at the start and for a reload.
enum CertificateSource: Sendable {
    /// The operator's files: paths of the chain and its key.
    case files(chain: String, key: String)
    /// The private authority in the data folder, for these hosts.
    case ownAuthority(DataFolder, hosts: [String])

    init(_ settings: Settings, folder: DataFolder) {
        if let chain = settings.tlsCertificatePath, let key = settings.tlsKeyPath {
            self = .files(chain: chain, key: key)
        } else {
            self = .ownAuthority(folder, hosts: [settings.listen.host] + settings.tlsHosts)
        }
    }

    struct Loaded {
        let material: TLSMaterial
        /// `nil` if the certificate is the operator's.
        let authorityPath: String?
    }

    /// Checks an operator's files before anything is made.
    ///
    /// The private authority needs no check.
    func check() throws(CommandFailure) {
        guard case .files(let chain, let key) = self else { return }
        _ = try Self.pair(chain, key)
    }

    /// Reads the operator's files, or loads the private authority's and makes those that are
    /// missing or about to expire.
    ///
    /// - Throws: `configuration`, with the file at fault; `cannotCreate`.
    func load(logger: Logger) throws(CommandFailure) -> Loaded {
        switch self {
        case .files(let chain, let key):
            let pair = try Self.pair(chain, key)
            return Loaded(
                material: TLSMaterial(certificateChain: pair.chainPEM, privateKey: pair.keyPEM),
                authorityPath: nil
            )
        case .ownAuthority(let folder, let hosts):
            let files = try Self.ownFiles(folder, hosts)
            switch files.event {
            case .made where folder.hasStore:
                logger.warning(
                    "made a new authority beside an earlier store: clients that trust another one refuse the server",
                    metadata: [
                        LogKeys.path: "\(files.authorityPath)",
                        LogKeys.advice:
                            "If tls was lost, stop the server, and put the folder tls of a backup in its place.",
                    ]
                )
            case .made:
                logger.info(
                    "made an authority and a certificate",
                    metadata: ["path": "\(files.authorityPath)"]
                )
            case .reissued(let reason):
                logger.info("renewed the certificate", metadata: ["reason": "\(reason)"])
            case .reused: break
            }
            if !files.narrowed.isEmpty {
                logger.warning(
                    "removed other users' access to the keys of the certificates",
                    metadata: [
                        LogKeys.path: "\(files.narrowed.joined(separator: " "))",
                        LogKeys.advice:
                            "If others may have read a key, remove the folder tls: the next start makes new ones. Clients then need the new ca.pem.",
                    ]
                )
            }
            return Loaded(
                material: TLSMaterial(certificateChain: files.chainPEM, privateKey: files.keyPEM),
                authorityPath: files.authorityPath
            )
        }
    }

    private static func pair(_ chain: String, _ key: String) throws(CommandFailure) -> CertificatePair {
        do throws(CertificatePairError) {
            return try CertificatePair.load(chainPath: chain, keyPath: key)
        } catch {
            throw CertificateAdvice.failure(error)
        }
    }

    private static func ownFiles(
        _ folder: DataFolder,
        _ hosts: [String]
    ) throws(CommandFailure) -> CertificateFiles {
        do {
            return try CertificateFiles.loadOrMake(directory: folder.path, hosts: hosts)
        } catch let error as CertificateFilesError {
            throw CertificateAdvice.failure(error)
        } catch {
            throw CommandFailure(
                .cannotCreate,
                "the certificates in \(folder.path)/tls cannot be read or written. Check who owns them, and that the disk "
                    + "has room."
            )
        }
    }
}
