"""Cells of students' notebooks besides answers, which must do the same in Jupyter and when graded.

Each case makes a function `SAME` that gives its tensor back, by way of what the case is about. A task's answer
then begins with `x = SAME(x)`, so it earns its points only where all of the case's cells worked.
"""

from __future__ import annotations

from dataclasses import dataclass

BESIDE = {
    "beside_module.py": b"def given(x):\n    return x\n",
    "beside/numbers.txt": b"1 2 3\n",
    "beside/__init__.py": b"",
    "beside/inner.py": b"from beside_module import given as inner\n",
}
"""The files that lie beside the notebook, in Jupyter and when it is handed in."""


@dataclass(frozen=True)
class Case:
    """Cells that a student adds in front of an answer."""

    name: str
    cells: tuple[str, ...]
    left_out: tuple[str, ...] = ()
    """The part that grading leaves out on purpose, as the cell's output then names it."""


def _case(name: str, *cells: str, left_out: str | tuple[str, ...] = ()) -> Case:
    return Case(name, cells, (left_out,) if isinstance(left_out, str) else left_out)


SHELL = (
    _case("shell line first", "!echo hello\nSAME = lambda x: x", left_out="!echo hello"),
    _case("shell line in the middle", "scale = 1\n!nvidia-smi\nSAME = lambda x: x * scale", left_out="!nvidia-smi"),
    _case("shell line in a block",
          "import sys\nif 'google.colab' in sys.modules:\n    !pip install einops\nelse:\n    !echo at home\n"
          "SAME = lambda x: x", left_out="!echo at home"),
    _case("value of a shell line",
          "names = !ls\nassert isinstance(names, list) and '\\n'.join(names).find('failed') < 0\nSAME = lambda x: x",
          left_out="!ls"),
    _case("two exclamation marks", "!!echo hello", "SAME = lambda x: x", left_out="!echo hello"),
    _case("percent pip", "%pip --version\nSAME = lambda x: x", left_out="-m pip --version"),
    _case("pip and a guarded import",
          "!pip --version\ntry:\n    from einops import rearrange\nexcept ImportError:\n"
          "    rearrange = lambda x, *_: x\nSAME = lambda x: rearrange(x, '... -> ...')", left_out="!pip --version"),
    _case("bash cell", "%%bash\necho hello", "SAME = lambda x: x", left_out="%%bash"),
    _case("sh cell with output", "%%sh --out said\necho hello", "SAME = lambda x: x", left_out="%%sh --out said"),
    _case("os.system", "import os\nos.system('echo hello > /dev/null')\nSAME = lambda x: x"),
    _case("get_ipython().system", "get_ipython().system('echo hello')\nSAME = lambda x: x", left_out="!echo hello"),
    _case("a program that is not there",
          "import subprocess\ntry:\n    subprocess.run(['no-such-program'])\n    there = True\n"
          "except FileNotFoundError:\n    there = False\nassert not there\nSAME = lambda x: x"),
    _case("which", "import shutil\nfound = shutil.which('nvidia-smi')\nSAME = lambda x: x"),
)  # fmt: skip

FILES = (
    _case("writefile and import", "%%writefile helpers_a.py\nimport torch\n\ndef same(x):\n    return x + 0\n",
          "import helpers_a", "SAME = helpers_a.same"),
    _case("writefile after a guarded import",
          "try:\n    import helpers_b\nexcept ImportError:\n    pass",
          "%%writefile helpers_b.py\ndef same(x):\n    return x",
          "import helpers_b\nSAME = helpers_b.same"),
    _case("written again and reloaded",
          "%%writefile helpers_c.py\ndef same(x):\n    return x * 1", "import helpers_c",
          "%%writefile helpers_c.py\ndef same(x):\n    return x * 2 / 2", "import importlib\nimportlib.reload(helpers_c)",
          "%%writefile helpers_c.py\ndef same(x):\n    return x * 3 / 3",
          "importlib.reload(helpers_c)\nimport inspect\nassert '3' in inspect.getsource(helpers_c)\nSAME = helpers_c.same"),
    _case("autoreload",
          "%load_ext autoreload\n%autoreload 2\n",
          "%%writefile helpers_d.py\ndef same(x):\n    return None", "import helpers_d",
          "%%writefile helpers_d.py\ndef same(x):\n    return x", "SAME = lambda x: helpers_d.same(x)"),
    _case("a package written by the notebook",
          "import os\nos.makedirs('own_package', exist_ok=True)\nopen('own_package/__init__.py', 'w').close()",
          "%%writefile own_package/tools.py\nfrom __future__ import annotations\nimport torch\n\n"
          "def same(x: torch.Tensor) -> torch.Tensor:\n    return x",
          "from own_package.tools import same as SAME"),
    _case("a module written with open",
          "with open('helpers_e.py', 'w') as file:\n    file.write('def same(x):\\n    return x\\n')\n"
          "import helpers_e\nSAME = helpers_e.same"),
    _case("writefile -a", "%%writefile helpers_f.py\nSAME_one = 1\n", "%%writefile -a helpers_f.py\n\ntwo = 2\n",
          "from helpers_f import *\nassert (SAME_one, two) == (1, 2)\nSAME = lambda x: x * SAME_one"),
    _case("percent run", "%%writefile script_a.py\nimport sys\nfactor = 1\nassert __name__ == '__main__'",
          "%run script_a.py\nSAME = lambda x: x * factor"),
    _case("a module beside the notebook", "import beside_module\nSAME = beside_module.given"),
    _case("a package beside the notebook", "from beside.inner import inner as SAME"),
    _case("data beside the notebook",
          "from pathlib import Path\nnumbers = [int(n) for n in Path('beside/numbers.txt').read_text().split()]\n"
          "SAME = lambda x: x * numbers[0]"),
    _case("a name of an installed package", "%%writefile mpmath.py\nmine = True", "import mpmath as own_mpmath\n"
          "assert own_mpmath.mine\nSAME = lambda x: x"),
    _case("a name of Python's own", "%%writefile colorsys.py\nmine = True", "import colorsys\n"
          "assert not hasattr(colorsys, 'mine')\nSAME = lambda x: x"),
    _case("save and load",
          "import torch\ntorch.save({'w': torch.ones(2)}, 'weights.pt')\nloaded = torch.load('weights.pt')\n"
          "SAME = lambda x: x * loaded['w'][0].item()"),
    _case("a whole model saved",
          "from torch import nn\nclass Kept(nn.Module):\n    def forward(self, x):\n        return x\n"
          "torch.save(Kept(), 'model.pt')\nSAME = torch.load('model.pt', weights_only=False)"),
    _case("numpy, csv, json and zip files",
          "import csv, json, zipfile\nimport numpy as np\nnp.save('a.npy', np.ones(2))\n"
          "with open('a.csv', 'w', newline='') as file:\n    csv.writer(file).writerow([1, 2])\n"
          "with zipfile.ZipFile('a.zip', 'w') as archive:\n    archive.write('a.csv')\n"
          "with open('a.json', 'w') as file:\n    json.dump({'one': float(np.load('a.npy')[0])}, file)\n"
          "SAME_one = json.load(open('a.json'))['one']\nSAME = lambda x: x * SAME_one"),
    _case("temporary folder and cd",
          "import os, tempfile\nhere = os.getcwd()\nwith tempfile.TemporaryDirectory() as folder:\n    %cd -q {folder}\n"
          "    open('x', 'w').close()\n    %cd -q {here}\nassert os.getcwd() == here\nSAME = lambda x: x"),
)  # fmt: skip

MAGICS = (
    _case("matplotlib inline",
          "%matplotlib inline\n%config InlineBackend.figure_format = 'retina'\nimport matplotlib.pyplot as plt\n"
          "plt.plot([1, 2])\nplt.savefig('figure.png')\nplt.show()",
          "from pathlib import Path\nfrom IPython.display import Image\nImage('figure.png')",
          "assert Path('figure.png').stat().st_size\nSAME = lambda x: x"),
    _case("other backends", "%matplotlib agg\n%matplotlib inline\nSAME = lambda x: x"),
    _case("time cell", "%%time\nSAME = lambda x: x"),
    _case("time and timeit lines",
          "%time SAME_one = 1\ntook = %timeit -n1 -r1 -o -q sum(range(9))\nassert took.best >= 0\nSAME = lambda x: x * SAME_one"),
    _case("timeit cell", "%%timeit -n1 -r1\nsum(range(9))", "SAME = lambda x: x"),
    _case("capture", "%%capture said\nprint('hello')\nSAME_factor = 1",
          "assert said.stdout == 'hello\\n'\nSAME = lambda x: x * SAME_factor"),
    _case("prun", "%prun -q sum(range(9))\nSAME = lambda x: x"),
    _case("display",
          "from IPython.display import HTML, Latex, Markdown, clear_output\ndisplay(HTML('<b>x</b>'), Markdown('x'), Latex('$x$'))\n"
          "shown = display('a', display_id=True)\nshown.update('b')\nclear_output(wait=True)\nSAME = lambda x: x"),
    _case("html and javascript cells", "%%html\n<b>bold</b>", "%%javascript\n1 + 1", "%%latex\n$x$", "SAME = lambda x: x"),
    _case("settings of the notebook",
          "%autosave 60\n%xmode Minimal\n%precision 3\n%config Completer.use_jedi = False\n%env SAME_ONE=1\n"
          "import os\nSAME = lambda x: x * int(os.environ['SAME_ONE'])"),
    _case("help", "import torch\ntorch.tanh?", "torch.tanh??", "help(torch.Tensor.tanh)\n%pdoc torch.tanh\nSAME = lambda x: x"),
    _case("who", "%who\n%whos int\nnames = %who_ls\n%lsmagic\nSAME = lambda x: x"),
    _case("last values", "40 + 2", "assert _ == 42\n_ * 0 + 1", "SAME_one = _\nassert __ == 42\nSAME = lambda x: x * SAME_one"),
    _case("get_ipython",
          "ip = get_ipython()\nip.run_line_magic('matplotlib', 'inline')\nassert ip is not None and 'google.colab' not in str(ip)\n"
          "assert ip.__class__.__name__ == 'ZMQInteractiveShell'\nip.run_cell('one_more = 1')\nSAME = lambda x: x * one_more"),
    _case("colab, guarded",
          "try:\n    from google.colab import drive\n    drive.mount('/content/drive')\nexcept ImportError:\n    drive = None\n"
          "SAME = lambda x: x"),
    _case("no __file__",
          "from pathlib import Path\ntry:\n    here = Path(__file__).parent\nexcept NameError:\n    here = Path.cwd()\n"
          "assert here.is_dir()\nif __name__ == '__main__':\n    SAME = lambda x: x"),
    _case("arguments of the kernel",
          "import argparse\nparser = argparse.ArgumentParser()\nparser.add_argument('-f')\nparser.add_argument('--hidden', type=int, default=1)\n"
          "options, _ = parser.parse_known_args()\nSAME = lambda x: x * options.hidden"),
    _case("a macro and history", "SAME_one = 1\n%history -n\nSAME = lambda x: x * SAME_one"),
    _case("a magic of one's own",
          "from IPython.core.magic import register_line_magic, register_cell_magic\n"
          "@register_line_magic\ndef double(line):\n    return 2 * int(line)\n"
          "@register_cell_magic\ndef skip(line, cell):\n    return\n",
          "%%skip\nraise RuntimeError", "two = %double 1\nSAME = lambda x: x * two / 2"),
)  # fmt: skip

PYTHON = (
    _case("top-level await",
          "import asyncio\nasync def one_later():\n    await asyncio.sleep(0.01)\n    return 1\nSAME_one = await one_later()\nSAME = lambda x: x * SAME_one"),
    _case("gather", "import asyncio\nSAME_ones = await asyncio.gather(asyncio.sleep(0, 1), asyncio.sleep(0, 1))\nSAME = lambda x: x * SAME_ones[1]"),
    _case("threads",
          "import threading\nfrom concurrent.futures import ThreadPoolExecutor\nwith ThreadPoolExecutor(2) as pool:\n"
          "    SAME_ones = list(pool.map(lambda n: 1, range(4)))\nthread = threading.Thread(target=SAME_ones.append, args=(1,))\n"
          "thread.start(); thread.join()\nSAME = lambda x: x * SAME_ones[4]"),
    _case("processes",
          "import multiprocessing, os\nassert os.cpu_count() >= 1\ndef SAME_one(_):\n    return 1\n"
          "with multiprocessing.get_context('fork').Pool(2) as pool:\n    SAME_ones = pool.map(SAME_one, range(3))\nSAME = lambda x: x * SAME_ones[2]"),
    _case("a loader with workers",
          "import torch\nfrom torch.utils.data import DataLoader, TensorDataset\n"
          "loader = DataLoader(TensorDataset(torch.ones(4, 2)), batch_size=2, num_workers=1)\n"
          "total = sum(batch.sum() for (batch,) in loader)\nassert total == 8\nSAME = lambda x: x"),
    _case("warnings and logging",
          "import logging, warnings\nwarnings.filterwarnings('ignore')\nwarnings.warn('x')\nlogging.basicConfig(level=logging.INFO, force=True)\n"
          "logging.info('here')\nlogging.getLogger('mine').warning('x')\nSAME = lambda x: x"),
    _case("time", "import time\nstart = time.perf_counter()\ntime.sleep(0.01)\nassert time.perf_counter() > start\nSAME = lambda x: x"),
    _case("streams",
          "import sys\nprint('a', end='', flush=True)\nsys.stdout.write('b')\nsys.stdout.flush()\nassert sys.stdout.encoding.lower() == 'utf-8'\n"
          "print('c', file=sys.stderr)\nassert not sys.stdout.isatty()\nSAME = lambda x: x"),
    _case("seeds",
          "import random\nimport numpy as np, torch\nrandom.seed(0); np.random.seed(0); torch.manual_seed(0)\n"
          "assert torch.rand(1).item() == torch.rand(1, generator=torch.manual_seed(0)).item()\ntorch.seed()\nSAME = lambda x: x"),
    _case("dataclasses and types",
          "from dataclasses import dataclass\nfrom enum import Enum\nfrom typing import NamedTuple, Optional, get_type_hints\n"
          "import torch\n@dataclass\nclass Config:\n    SAME_one: int = 1\nclass Kind(Enum):\n    A = 1\nclass Pair(NamedTuple):\n    h: torch.Tensor\n"
          "def SAME(x: torch.Tensor, config: Optional[Config] = None) -> torch.Tensor:\n    return Pair(x * Config().SAME_one * Kind.A.value).h\n"
          "assert get_type_hints(SAME)['x'] is torch.Tensor"),
    _case("pickle and copy",
          "import copy, pickle\nclass Own:\n    SAME_one = 1\nown = pickle.loads(pickle.dumps(copy.deepcopy(Own())))\nSAME = lambda x: x * own.SAME_one"),
    _case("source of a function", "import inspect\ndef SAME_one():\n    return 1\nassert 'return 1' in inspect.getsource(SAME_one)\nSAME = lambda x: x"),
    _case("unittest and doctest",
          "import doctest, unittest\ndef SAME_one():\n    '''\n    >>> SAME_one()\n    1\n    '''\n    return 1\n"
          "class TestOne(unittest.TestCase):\n    def test_one(self):\n        self.assertEqual(SAME_one(), 1)\n"
          "doctest.testmod()\nran = unittest.main(argv=[''], exit=False, defaultTest='TestOne')\nassert ran.result.wasSuccessful()\nSAME = lambda x: x * SAME_one()"),
    _case("devices and settings",
          "import os, torch\ndevice = torch.device('cuda' if torch.cuda.is_available() else 'cpu')\ntorch.set_printoptions(precision=3)\n"
          "torch.set_num_threads(2)\ntorch.set_float32_matmul_precision('high')\ntorch.backends.cudnn.deterministic = True\n"
          "os.environ['CUBLAS_WORKSPACE_CONFIG'] = ':4096:8'\nSAME = lambda x: x"),
    _case("what the machine is called",
          "import getpass, platform, socket, sys\nnames = platform.node(), socket.gethostname(), platform.platform(), sys.version\n"
          "person = getpass.getuser()\nSAME = lambda x: x"),
    _case("exit and quit", "SAME = lambda x: x\nif False:\n    exit()"),
    _case("input, guarded",
          "try:\n    size = int(input('how many?') or 1)\nexcept NotImplementedError:  # nobody can be asked\n    size = 1\n"
          "SAME = lambda x: x * size"),
    _case("a signal", "import signal\nprevious = signal.signal(signal.SIGINT, signal.default_int_handler)\nSAME = lambda x: x"),
    _case("a profile",
          "import torch\nwith torch.autograd.profiler.profile() as prof:\n    torch.ones(2).sum()\nSAME = lambda x: x"),
)  # fmt: skip

COMPILED = (
    _case("torch.compile", "import torch\n@torch.compile\ndef SAME(x):\n    return x * 1.0"),
    _case("torch.compile with options",
          "import torch\n@torch.compile(fullgraph=True, dynamic=True, backend='eager')\ndef SAME(x):\n    return x + 0"),
    _case("a compiled module",
          "from torch import nn\nkept = torch.compile(nn.Identity(), backend='eager')\nassert isinstance(kept, nn.Module)\n"
          "assert list(torch.compile(nn.Linear(1, 1), backend='eager').state_dict()) == ['_orig_mod.weight', '_orig_mod.bias']\n"
          "assert isinstance(kept._orig_mod, nn.Identity)\nSAME = lambda x: kept(x)"),
    _case("module.compile", "from torch import nn\nown = nn.Identity()\nown.compile(backend='aot_eager')\nSAME = own"),
    _case("a compiled method",
          "from torch import nn\nclass Same(nn.Module):\n    @torch.compile(backend='eager')\n    def forward(self, x):\n"
          "        return self.twice(x) / 2\n    def twice(self, x):\n        return x * 2\nSAME = Same()"),
    _case("a stance and a reset",
          "import torch\ntorch.compiler.reset()\nlater = torch.compile(lambda x: x, backend='eager')\n"
          "with torch.compiler.set_stance('force_eager'):\n    later(torch.ones(1))\nSAME = lambda x: x"),
    _case("torch.jit.script",
          "import torch\n@torch.jit.script\ndef SAME(x: torch.Tensor) -> torch.Tensor:\n    if x.dim() > 9:\n        return x * 2\n    return x * 1.0"),
    _case("torch.jit.trace", "import torch\ntraced = torch.jit.trace(lambda x: x * 1.0, torch.ones(2, 3))\nSAME = lambda x: traced(x)"),
    _case("vmap, grad and checkpoint",
          "import torch\nfrom torch.utils.checkpoint import checkpoint\nassert torch.func.grad(lambda x: x * x)(torch.ones(())) == 2\n"
          "SAME = lambda x: checkpoint(lambda y: y * 1, x, use_reentrant=False)"),
)  # fmt: skip

WIDE = (
    _case("default dtype", "import torch\ntorch.set_default_dtype(torch.float64)\nSAME = lambda x: x"),
    _case("default device", "import torch\ntorch.set_default_device('cpu')\nSAME = lambda x: x"),
    _case("postponed annotations",
          "from __future__ import annotations\ndef SAME(x: NoSuchType) -> AnotherType | None:\n    return x"),
    _case("anomalies", "torch.autograd.set_detect_anomaly(True)\nSAME = lambda x: x"),
    _case("deterministic", "torch.use_deterministic_algorithms(True)\nSAME = lambda x: x"),
    _case("numbered values", "1 + 0", "SAME_one = [value for value in Out.values() if value == 1][-1]\nassert In[-1].startswith('SAME')\nSAME = lambda x: x * SAME_one"),
)  # fmt: skip
