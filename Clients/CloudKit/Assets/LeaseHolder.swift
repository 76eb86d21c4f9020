internal import Foundation

/// One process's claims on files of a cache: second names, which other processes see in the link
/// count.
///
/// A claim of a process that died is void, because its lock went with it. On a file system without
/// second names there are no claims, and other processes may remove a file that this one names.
final class LeaseHolder: Sendable {
    private let leases: String
    private let own: String
    private let lock: FolderLock?

    init(folder: String) {
        self.leases = folder
        let name = "\(getpid())-\(UInt32.random(in: .min ... .max))"
        self.own = folder + "/" + name
        try? FileManager.default.createDirectory(atPath: self.own, withIntermediateDirectories: true)
        self.lock = FolderLock(self.own + ".lock", isExclusive: true, waits: false)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: self.own)
        unlink(self.own + ".lock")
    }

    func hold(_ name: String, _ path: String) {
        let claim = self.own + "/" + name
        if link(path, claim) == 0 { return }
        // An older file with the same contents, which was moved away.
        unlink(claim)
        _ = link(path, claim)
    }

    func letGo(_ name: String) { unlink(self.own + "/" + name) }

    func removeDead() {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: self.leases)) ?? []
        for name in names where !name.hasSuffix(".lock") {
            let path = self.leases + "/" + name
            guard path != self.own,
                let lock = FolderLock(path + ".lock", isExclusive: true, waits: false)
            else { continue }
            try? FileManager.default.removeItem(atPath: path)
            unlink(path + ".lock")
            withExtendedLifetime(lock) {}
        }
    }
}

/// A lock between processes, which the system releases when its process ends.
final class FolderLock: Sendable {
    private let descriptor: Int32

    init?(_ path: String, isExclusive: Bool, waits: Bool) {
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return nil }
        let how = (isExclusive ? LOCK_EX : LOCK_SH) | (waits ? 0 : LOCK_NB)
        guard flock(descriptor, how) == 0 else {
            close(descriptor)
            return nil
        }
        self.descriptor = descriptor
    }

    deinit { close(self.descriptor) }
}
