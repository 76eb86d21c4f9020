import Logging
import RecordServer
import RecordStore
import Synchronization

/// The settings in force; some of them change while the server runs.
final class LiveSettings: Sendable {
    private let settings: Mutex<Settings>

    init(_ settings: Settings) {
        self.settings = Mutex(settings)
    }

    var current: Settings {
        get { self.settings.withLock { $0 } }
        set { self.settings.withLock { $0 = newValue } }
    }
}

extension Settings {
    /// These settings, with those of another reading that need no restart.
    func reloading(_ new: Settings) -> Settings {
        var settings = self
        settings.logLevel = new.logLevel
        settings.tlsCertificatePath = new.tlsCertificatePath
        settings.tlsKeyPath = new.tlsKeyPath
        settings.tlsHosts = new.tlsHosts
        settings.drainSeconds = new.drainSeconds
        settings.diskReserveBytes = new.diskReserveBytes
        settings.server.storage.quotas = new.server.storage.quotas
        return settings
    }

    /// The names of settings with other values in another reading.
    func namesOfDifferences(from other: Settings) -> [String] {
        TextSetting.allCases.filter { $0.read(self) != $0.read(other) }.map(\.rawValue)
            + NumberSetting.all.filter { $0.read(self) != $0.read(other) }.map(\.name)
    }
}
